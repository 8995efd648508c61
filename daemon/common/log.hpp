// The log goes to standard error, through spdlog's default logger. What a line says is shown as
// protocol::printable() does, since much of it comes from other processes: on one line, and not too long.
// Lines are texts for people, or JSON objects for programs. Where standard error is systemd's journal,
// cliqued hands texts over to it with fields (docs/configuration.md#the-journal).
#pragma once

#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace clique::daemon {

/// The level of processes that nobody has given one: private workers, and the probe of drivers.
inline constexpr const char* kQuietLogLevel = "warning";

enum class LogFormat : std::uint8_t { Text, Json };

/// How a process logs.
struct LogOptions {
  std::string level = kQuietLogLevel;  ///< a name that spdlog knows
  LogFormat format = LogFormat::Text;
  std::string node = {};  ///< its name; empty: the process does not know it
};

/// Sets up the default logger. @param role e.g. "cliqued", "worker"
void init_log(const std::string& role, const LogOptions& options);

/// How this process logs.
LogOptions log_options();

/// A text without quotation marks in a line of text: one that holds no blanks, such as an address.
struct LogWord {
  std::string text;
};
/// A named value of a log line. Nothing is "-" in a text, and null in JSON.
struct LogField {
  std::string name;
  std::variant<std::monostate, std::string, LogWord, std::uint64_t, double> value;
};
using LogFields = std::vector<LogField>;

/// Logs "MESSAGE: NAME=VALUE NAME=VALUE …", with texts in quotation marks that they cannot leave; or an
/// object with the message and the values.
/// @param subject further values of the object, which the message names
void log_fields(spdlog::level::level_enum level, const std::string& message, const LogFields& subject,
                const LogFields& fields);

/// Whether lines go to systemd's journal, with fields.
bool logs_to_journal();
/// Hands a line over to the journal that a worker, or a process that it has started, has written to standard
/// error. Only where logs_to_journal(). Any thread.
/// @param line without its end; its level is that which it names itself
void log_line_of_worker(std::string_view line, const LogFields& fields);

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
