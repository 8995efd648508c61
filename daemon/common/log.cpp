#include "daemon/common/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "daemon/common/environment.hpp"
#include "protocol/printable.hpp"

namespace clique::daemon {

namespace {

/// The process's id as others on this host know it, although the process may be the first one of a PID
/// namespace.
std::string process_id() {
  std::error_code failed;
  const std::string id = std::filesystem::read_symlink("/proc/self", failed);
  return failed ? std::to_string(::getpid()) : id;
}

/// The message of a line: much of it comes from clients, drivers and strangers.
class Message final : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm& /*time*/,
              spdlog::memory_buf_t& line) override {
    const std::string text = protocol::printable({message.payload.data(), message.payload.size()});
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::custom_flag_formatter> clone() const override {
    return std::make_unique<Message>();
  }
};

}  // namespace

void init_log(const std::string& role, const std::string& level) {
  auto logger = spdlog::stderr_logger_mt(role);
  spdlog::set_default_logger(logger);
  // The journal adds its own time stamps.
  const bool journal = environment("JOURNAL_STREAM").has_value();
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<Message>('*').set_pattern(std::string(journal ? "" : "%Y-%m-%d %H:%M:%S.%e ") + "%n[" +
                                                process_id() + "] %l: %*");
  spdlog::set_formatter(std::move(formatter));
  spdlog::set_level(spdlog::level::from_str(level));
  spdlog::flush_on(spdlog::level::trace);
}

std::string log_level() {
  return spdlog::level::to_string_view(spdlog::get_level()).data();
}

bool LogLimit::admit(std::uint64_t* skipped) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (now - second_ > std::chrono::seconds(1)) {
    second_ = now;
    lines_ = 0;
  }
  if (++lines_ > kLinesPerSecond) {
    ++skipped_;
    return false;
  }
  *skipped = std::exchange(skipped_, 0);
  return true;
}

void warn_limited(LogLimit& limit, const std::string& line) {
  std::uint64_t skipped = 0;
  if (!limit.admit(&skipped)) return;
  if (skipped > 0) {
    spdlog::warn("{} ({} similar lines were held back before)", line, skipped);
  } else {
    spdlog::warn("{}", line);
  }
}

}  // namespace clique::daemon
