#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/output.h"
#include "core/best_build.h"
#include "core/error.h"
#include "core/parallel.h"

namespace {

int fail(headroom::Exit code, const std::string& message) {
  headroom::print_error(message);
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  using headroom::Exit;
  try {
#if defined(HEADROOM_PORTABLE)
    headroom::start_best_build(argv);
#endif
    headroom::limit_spinning(argv);
    std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of write(), not the end of a run
    headroom::flush_denormals();
    const std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
    return static_cast<int>(headroom::run_command(args));
  } catch (const headroom::Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return fail(Exit::kUsage, "not enough memory; a smaller model or batch needs less");
  } catch (const std::length_error&) {
    return fail(Exit::kUsage, "not enough memory; a smaller model or batch needs less");
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(Exit::kFile, error.path1().string() + ": " + error.code().message());
  } catch (const std::exception& error) {
    headroom::print_error(std::string("internal error: ") + error.what());
    return 1;
  }
}
