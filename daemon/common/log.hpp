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

/// Limits log lines that others can cause: admits some each second and counts the rest. Thread-safe.
class LogLimit {
 public:
  // The lines of a second. The journal takes no more from a service than 10,000 lines in 30 seconds, and
  // those of the daemon itself must be among them.
  static constexpr unsigned kOfStrangers = 5;
  static constexpr unsigned kOfOneClientsWorkers = 100;
  static constexpr unsigned kOfAllWorkers = 200;

  explicit LogLimit(unsigned lines_per_second = kOfStrangers) : lines_per_second_(lines_per_second) {}

  /// @returns whether the caller may log a line now; otherwise the line counts as held back
  bool admit();
  /// The number of lines held back since the last call.
  std::uint64_t take_held_back();
  /// Whether it is as new: it admitted no line in the last second, and all lines that it held back are taken.
  bool idle() const;
  unsigned lines_per_second() const { return lines_per_second_; }

 private:
  using Clock = std::chrono::steady_clock;
  const unsigned lines_per_second_;
  mutable std::mutex mutex_;
  Clock::time_point second_;  // since when lines_ are counted
  unsigned lines_ = 0;
  std::uint64_t held_back_ = 0;
};

/// Logs a warning if `limit` admits it.
void warn_limited(LogLimit& limit, const std::string& line);

}  // namespace clique::daemon
