#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "config/describe.h"
#include "core/spelling.h"

namespace headroom {

Exit describe_command(Arguments args) {
  std::string topic;
  bool markdown = false, schema = false;
  CommandLine line("describe",
                   "Lists tasks, attention variants, metrics and every field of the config, from "
                   "the tables that the "
                   "config reader itself uses.",
                   "headroom describe tasks\n"
                   "headroom describe train.optimizer\n"
                   "headroom describe defaults > my.json\n"
                   "headroom describe config --json-schema > schema.json");
  line.optional_argument("TOPIC", topic,
                         join(topic_names()) +
                             ", or a section of the config such as train.optimizer; without one, "
                             "the list of topics.");
  line.flag("--markdown", markdown, "Print tables in Markdown.");
  line.flag("--json-schema", schema,
            "Print a JSON Schema (draft 2020-12) of the config or of a part of it.");
  if (!line.parse(args)) return Exit::kDone;
  if (markdown && schema) {
    throw Error(Exit::kUsage, "describe: --markdown and --json-schema do not go together");
  }
  print(describe(topic, schema     ? DescribeFormat::kJsonSchema
                        : markdown ? DescribeFormat::kMarkdown
                                   : DescribeFormat::kText));
  return Exit::kDone;
}

}  // namespace headroom
