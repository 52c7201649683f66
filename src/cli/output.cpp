#include "cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "core/error.h"
#include "core/file.h"

namespace headroom {
void print(std::string_view text) {
  static bool reader_gone = false;
  if (reader_gone) return;
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) {
    reader_gone = true;
  } else if (error != 0) {
    throw Error(Exit::kFile,
                std::string("cannot write to standard output: ") + std::strerror(error));
  }
}

void print_error(std::string_view message) {
  std::string line = "headroom: ";
  for (char c : message)  // one line, whatever a file's name holds
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  line += '\n';
  (void)write_all(STDERR_FILENO, line);  // there is nowhere left to complain
}

}  // namespace headroom
