// The log goes to standard error, through spdlog's default logger. What a line says is shown as
// protocol::printable() does, since much of it comes from other processes: on one line, and not too long.
#pragma once

#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace clique::daemon {

/// The level of processes that nobody has given one: private workers, and the probe of drivers.
inline constexpr const char* kQuietLogLevel = "warning";

/// Sets up the default logger. @param role e.g. "cliqued", "worker"; @param level a name that spdlog knows.
void init_log(const std::string& role, const std::string& level);

/// The default logger's level, as init_log() takes it.
std::string log_level();

/// Limits log lines that strangers can cause: admits a few each second and counts the others. Thread-safe.
class LogLimit {
 public:
  /// @returns whether the caller may log now; *skipped is then the number of lines held back since the last
  /// one
  bool admit(std::uint64_t* skipped);

 private:
  static constexpr int kLinesPerSecond = 5;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point second_;
  int lines_ = 0;
  std::uint64_t skipped_ = 0;
};

/// Logs a warning if `limit` admits it.
void warn_limited(LogLimit& limit, const std::string& line);

}  // namespace clique::daemon
