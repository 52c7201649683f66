#include "train/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "core/file.h"

namespace headroom {
namespace {

constexpr const char* kPattern = "%H:%M:%S %v";

// stderr may be closed or a broken pipe; a run does not end for that.
void write_stderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

class StderrSink final : public spdlog::sinks::base_sink<std::mutex> {
 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    write_stderr({text.data(), text.size()});
  }
  void flush_() override {}
};

// Lines wait in memory until there is a file. spdlog swallows exceptions of its sinks, so a failed
// write is kept here and thrown by Log.
class FileSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  void open(const std::filesystem::path& path, bool append) {
    file_.emplace(path, append ? LineFile::Mode::kContinue : LineFile::Mode::kTruncate);
    for (const std::string& line : waiting_) file_->append(line);
    waiting_.clear();
  }
  void rethrow() {
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    std::string line(text.data(), text.size());
    while (!line.empty() && line.back() == '\n') line.pop_back();
    if (!file_) {
      waiting_.push_back(std::move(line));
      return;
    }
    try {
      file_->append(line);
    } catch (...) {
      failure_ = std::current_exception();
    }
  }
  void flush_() override {}

 private:
  std::optional<LineFile> file_;
  std::vector<std::string> waiting_;
  std::exception_ptr failure_;
};

}  // namespace

struct Log::Sinks {
  std::shared_ptr<StderrSink> screen = std::make_shared<StderrSink>();
  std::shared_ptr<FileSink> file = std::make_shared<FileSink>();
  spdlog::logger both{"headroom", {screen, file}};
  spdlog::logger file_alone{"headroom", file};
};

Log::Log(bool quiet, bool terminal)
    : quiet_(quiet), terminal_(terminal && !quiet), sinks_(std::make_unique<Sinks>()) {
  sinks_->both.set_pattern(kPattern);
}

Log::~Log() { hide(); }

void Log::open(const std::filesystem::path& file, bool append) { sinks_->file->open(file, append); }

void Log::line(int level, const std::string& text, bool to_stderr) {
  const std::string below = shown_;
  if (to_stderr && !quiet_) hide();
  spdlog::logger& logger = to_stderr && !quiet_ ? sinks_->both : sinks_->file_alone;
  // The text is an argument, never a format.
  logger.log(static_cast<spdlog::level::level_enum>(level), "{}", text);
  show(below);
  sinks_->file->rethrow();
}

void Log::info(const std::string& text) { line(spdlog::level::info, text, true); }
void Log::warn(const std::string& text) { line(spdlog::level::warn, "warning: " + text, true); }
void Log::file_only(const std::string& text) { line(spdlog::level::info, text, false); }

void Log::show(const std::string& line) {
  if (!terminal_ || line == shown_) return;
  write_stderr("\r\033[K" + line);
  shown_ = line;
}

bool Log::stderr_is_terminal() {
  const char* const term = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && (term == nullptr || std::string_view(term) != "dumb");
}

int Log::terminal_columns() {
  struct winsize size {};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

bool Log::colors() {
  const char* const no_color = std::getenv("NO_COLOR");
  return no_color == nullptr || *no_color == '\0';
}

}  // namespace headroom
