#include <string>
#include <vector>

#include "config/read.h"
#include "config/resume.h"
#include "config/write.h"
#include "fuzz/readers.h"

namespace headroom::fuzz {

void read_config(std::string_view input) {
  constexpr std::string_view kMark = "\n%%\n";
  const std::size_t mark = input.find(kMark);
  std::vector<std::string> sets;
  for (std::size_t at = mark; at != std::string_view::npos;) {
    const std::size_t begin = at + kMark.size();
    at = input.find(kMark, begin);
    sets.emplace_back(input.substr(begin, at == std::string_view::npos ? at : at - begin));
  }
  RunConfig config;
  // Its folder is where "extends" begins.
  const std::string source = std::string(HEADROOM_SOURCE) + "/configs/quickstart/fuzz.json";
  if (!taken([&] { config = read_run_config_text(input.substr(0, mark), sets, source); },
             {Exit::kUsage, Exit::kFile})) {
    return;
  }
  const std::string text = config_text(config);
  const RunConfig again = read_run_config_text(text);
  require(config_text(again) == text, "config.json fed back gives the same:\n" + text);
  require(config_hash(again) == config_hash(config), "equal configs have equal names");
  require_resumable(config, again, "runs/same");
  require_same_model(config, again, "last.safetensors");
  for (const std::string& line : warnings(config))
    require(!line.empty(), "a warning says something");
}

}  // namespace headroom::fuzz
