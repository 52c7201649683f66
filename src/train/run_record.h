// run.json: what ran, where, and how it ended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/json.h"

namespace headroom {

struct Best {
  std::string metric;
  double value = 0;
  std::uint64_t step = 0;
};

struct RunRecord {
  std::string version, commit;
  std::vector<std::string> command_line;
  std::string name;
  int threads = 1;
  std::string precision;     // precision_text
  json::Object derived;      // what the config left null, filled in
  std::uint64_t budget = 0;  // d H r of one layer
  std::uint64_t parameters = 0;
  std::string start, end;  // UTC; end is empty while it runs
  double elapsed_s = 0;
  std::uint64_t steps = 0;  // updates done
  std::optional<Best> best;
  std::optional<bool> not_trained;  // no better than the reference baseline (baselines/trained.h)
  std::string exit_reason = "running";  // "done", "patience", "SIGTERM", or the error's line
  std::optional<int> exit_code;
  std::optional<json::Value> construction;  // only of a hand-set model
  std::uint64_t resumes = 0;                // how often the run was continued
  std::string init_from;                    // the file its parameters came from; "": drawn
};

// Keys only ever get added; "schema" counts incompatible changes.
std::string run_json(const RunRecord& record);

// What a run that goes on takes over from the run.json of the processes before it.
struct EarlierRun {
  std::string start, exit_reason, init_from;
  double elapsed_s = 0;
  std::uint64_t resumes = 0;
};

// Fields that are missing, as all are without a file, keep their defaults. Throws Error(kUsage) for
// a file that is no JSON, Error(kFile) for one that cannot be read.
EarlierRun read_earlier_run(const std::filesystem::path& run_json);

}  // namespace headroom
