// From a file, the files it extends and the command line's --set items to a RunConfig.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/run_config.h"
#include "core/json.h"

namespace headroom {

// Reads `path`: the files of its "extends" (a path or a list of paths, each relative to the file
// that names it, the later over the earlier), the file itself over them, then each KEY=VALUE of
// `sets` in order. Every document is checked by itself, then the whole. Where a later document
// chooses another `type`, fields that an earlier one gave for the old type no longer count. Throws
// Error(kUsage) or, for a file that cannot be read, Error(kFile); one line, with file, line and key
// path.
RunConfig read_run_config(const std::string& path, std::span<const std::string> sets = {});

// The same from a text; `source` names it in messages, and "extends" paths are relative to its
// folder.
RunConfig read_run_config_text(std::string_view text, std::span<const std::string> sets = {},
                               const std::string& source = "config");

// The same from a document that has been parsed, or is a part of one.
RunConfig read_run_config_value(json::Value document, std::span<const std::string> sets,
                                const std::string& source);

// Sets fields of any struct from KEY=VALUE items as the command line's --set does, in order. Throws
// Error(kUsage) "--set: KEY: ...".
void read_settings(Fields& fields, std::span<const std::string> sets);

}  // namespace headroom
