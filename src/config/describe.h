// What there is to choose from, generated from the tables that the reader itself uses.
#pragma once

#include <string>
#include <vector>

namespace headroom {

enum class DescribeFormat { kText, kMarkdown, kJsonSchema };

std::vector<std::string> topic_names();

// `topic`: "" (the list of topics), one of them, or the path of any section of the config such as
// "train.optimizer". The result ends with a newline. Throws Error(kUsage) for an unknown topic,
// with the nearest one, and for a schema of what is no section.
std::string describe(const std::string& topic, DescribeFormat format);

}  // namespace headroom
