#include "daemon/common/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>

#include "daemon/common/environment.hpp"

namespace clique::daemon {

void init_log(const std::string& role, const std::string& level) {
  auto logger = spdlog::stderr_logger_mt(role);
  spdlog::set_default_logger(logger);
  // The journal adds its own time stamps.
  const bool journal = environment("JOURNAL_STREAM").has_value();
  spdlog::set_pattern(journal ? "%n[%P] %l: %v" : "%Y-%m-%d %H:%M:%S.%e %n[%P] %l: %v");
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
