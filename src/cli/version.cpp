#include "cli/version.h"

#include "cli/build_info.h"  // generated, see CMakeLists.txt
#include "kernels/matmul.h"
#include "train/host.h"

namespace headroom {

std::string version() { return HEADROOM_VERSION; }
std::string commit() { return HEADROOM_COMMIT; }

std::string version_text() {
  return "headroom " + version() + "\ncommit " + commit() + "\ncompiler " HEADROOM_COMPILER "\n" +
         kernels::matmul_library() + "\ninstruction set " + instruction_set() + "\n";
}

}  // namespace headroom
