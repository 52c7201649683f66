// Log lines: to stderr, and to log.txt once there is one. Knows how to keep one updating line below
// them where stderr is a terminal.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace headroom {

class Log {
 public:
  // quiet: nothing to stderr. `terminal`: whether stderr can show an updating line.
  explicit Log(bool quiet, bool terminal = stderr_is_terminal());
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  // The lines so far go there first; `append`: after what the file holds.
  void open(const std::filesystem::path& file, bool append = false);

  // One line each. Throw Error(kFile) with the path if log.txt cannot be written.
  void info(const std::string& text);
  void warn(const std::string& text);
  void file_only(const std::string& text);  // what stderr shows by other means

  // The updating line, replaced by the next and pushed away by log lines. Nothing without a
  // terminal.
  void show(const std::string& line);
  void hide() { show(""); }

  bool terminal() const { return terminal_; }
  bool quiet() const { return quiet_; }

  static bool stderr_is_terminal();  // and TERM is not "dumb"
  static int terminal_columns();     // 80 where it is not known
  static bool colors();              // NO_COLOR is unset or empty

 private:
  struct Sinks;
  void line(int level, const std::string& text, bool to_stderr);

  bool quiet_, terminal_;
  std::string shown_;
  std::unique_ptr<Sinks> sinks_;
};

}  // namespace headroom
