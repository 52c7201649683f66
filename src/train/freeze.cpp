#include "train/freeze.h"

#include <fnmatch.h>

#include "core/error.h"
#include "core/spelling.h"

namespace headroom {

std::vector<bool> frozen_rows(const ParamTable& table, const std::vector<std::string>& globs) {
  std::vector<bool> frozen(table.rows().size());
  for (const std::string& glob : globs) {
    bool matched = false;
    for (std::size_t i = 0; i < frozen.size(); ++i) {
      if (fnmatch(glob.c_str(), table.rows()[i].name.c_str(), 0) != 0) continue;
      frozen[i] = matched = true;
    }
    if (matched) continue;
    std::vector<std::string> names;
    for (const ParamRow& row : table.rows()) names.push_back(row.name);
    throw Error(Exit::kUsage, "train.freeze: " + in_quotes(glob) +
                                  " matches no parameter of this model" +
                                  did_you_mean(glob, names) + " (`headroom check` lists them)");
  }
  return frozen;
}

}  // namespace headroom
