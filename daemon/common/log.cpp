#include "daemon/common/log.hpp"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>

#include "daemon/common/environment.hpp"
#include "daemon/common/journal.hpp"
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

/// The longest text of others in a value, so that a line holds all of its values.
constexpr std::size_t kLongestValue = 320;

LogFormat log_format = LogFormat::Text;
/// The values of the line that this thread is logging; null: it has none.
thread_local const LogFields* fields_of_line = nullptr;

/// A text in quotation marks that it cannot leave.
std::string between_marks(std::string_view text) {
  std::string inner;
  for (const char c : text) {
    if (c == '"' || c == '\\') inner += '\\';
    inner += c;
  }
  return '"' + protocol::printable(inner, kLongestValue) + '"';
}

/// Calls the overload for what the field holds.
template <typename... Overloads>
struct OfValue : Overloads... {
  using Overloads::operator()...;
};
template <typename... Overloads>
OfValue(Overloads...) -> OfValue<Overloads...>;

/// Without quotation marks.
std::string bare_text(const LogField& field) {
  return std::visit(OfValue{[](std::monostate) { return std::string(); },
                            [](const std::string& text) { return protocol::printable(text, kLongestValue); },
                            [](const LogWord& word) { return protocol::printable(word.text, kLongestValue); },
                            [](std::uint64_t number) { return std::to_string(number); },
                            [](double number) { return fmt::format("{:.3f}", number); }},
                    field.value);
}

std::string value_text(const LogField& field) {
  if (std::holds_alternative<std::monostate>(field.value)) return "-";
  if (const auto* const text = std::get_if<std::string>(&field.value)) return between_marks(*text);
  return bare_text(field);
}

/// A name as the journal allows it: CLIQUE_PEAK_MEMORY.
std::string journal_name(std::string_view name) {
  std::string result = "CLIQUE_";
  for (const char c : name)
    result += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

/// Hands lines over to the journal, or, if that fails, writes them to standard error.
class JournalSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  JournalSink(const Journal& journal, std::string role, std::string node)
      : journal_(journal), role_(std::move(role)), node_(std::move(node)) {}

  /// Adds an entry. @param fields null: there are none. @returns false if the journal does not take it
  bool add(std::string_view text, spdlog::level::level_enum level, const std::string& role,
           const LogFields* fields) const {
    std::vector<std::string> entry{"MESSAGE=" + protocol::printable(text),
                                   "PRIORITY=" + std::to_string(priority(level)),
                                   "SYSLOG_IDENTIFIER=" + role};
    if (!node_.empty()) entry.push_back("CLIQUE_NODE=" + node_);
    if (fields != nullptr)
      for (const LogField& field : *fields)
        if (!std::holds_alternative<std::monostate>(field.value))
          entry.push_back(journal_name(field.name) + "=" + bare_text(field));
    return journal_.send(entry);
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (add({message.payload.data(), message.payload.size()}, message.level, role_, fields_of_line)) return;
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
  void flush_() override {}

  /// As sd-daemon(3) numbers them.
  static int priority(spdlog::level::level_enum level) {
    switch (level) {
      case spdlog::level::critical:
        return 2;
      case spdlog::level::err:
        return 3;
      case spdlog::level::warn:
        return 4;
      case spdlog::level::info:
        return 6;
      default:
        return 7;
    }
  }

  const Journal journal_;
  const std::string role_;
  const std::string node_;
};

/// Of this process, if its lines go there.
std::shared_ptr<JournalSink> journal_sink;

/// The level that a line of another process names itself, as in "worker[123] error: it has failed".
spdlog::level::level_enum named_level(std::string_view line) {
  const std::size_t bracket = line.find("] ");
  if (bracket == std::string_view::npos) return spdlog::level::info;
  const std::string_view rest = line.substr(bracket + 2);
  const std::size_t colon = rest.find(": ");
  if (colon == std::string_view::npos) return spdlog::level::info;
  const std::string name(rest.substr(0, colon));
  const auto level = spdlog::level::from_str(name);
  // from_str() takes what is no name for "off".
  return level == spdlog::level::off ? spdlog::level::info : level;
}

nlohmann::ordered_json json_value(const LogField& field) {
  using Json = nlohmann::ordered_json;
  return std::visit(
      OfValue{[](std::monostate) { return Json(); },
              [](const std::string& text) { return Json(protocol::printable(text, kLongestValue)); },
              [](const LogWord& word) { return Json(protocol::printable(word.text, kLongestValue)); },
              [](std::uint64_t number) { return Json(number); }, [](double number) { return Json(number); }},
      field.value);
}

/// A line as a JSON object.
class JsonLines final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& line) override {
    using std::chrono::milliseconds;
    const auto since_epoch = message.time.time_since_epoch();
    const auto ms = std::chrono::duration_cast<milliseconds>(since_epoch).count();
    const std::time_t seconds = ms / 1000;
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    char time[32];
    std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S", &utc);
    nlohmann::ordered_json object{
        {"time", fmt::format("{}.{:03}Z", time, ms % 1000)},
        {"level", std::string_view(spdlog::level::to_string_view(message.level).data())},
        {"process", std::string_view(message.logger_name.data(), message.logger_name.size())},
        {"pid", pid_},
        {"message", protocol::printable({message.payload.data(), message.payload.size()})}};
    if (fields_of_line != nullptr)
      for (const LogField& field : *fields_of_line) object[field.name] = json_value(field);
    const std::string text = object.dump() + '\n';
    line.append(text.data(), text.data() + text.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonLines>(); }

 private:
  const int pid_ = std::stoi(process_id());
};

}  // namespace

void init_log(const std::string& role, const LogOptions& options) {
  log_format = options.format;
  // Processes of sessions cannot reach the journal's socket.
  const auto journal = role == "cliqued" && log_format == LogFormat::Text ? Journal::open() : std::nullopt;
  if (journal) {
    journal_sink = std::make_shared<JournalSink>(*journal, role, options.node);
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(role, journal_sink));
  } else {
    spdlog::set_default_logger(spdlog::stderr_logger_mt(role));
  }
  if (options.format == LogFormat::Json) {
    spdlog::set_formatter(std::make_unique<JsonLines>());
  } else {
    // The journal adds its own time stamps.
    const bool journal = environment("JOURNAL_STREAM").has_value();
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<Message>('*').set_pattern(std::string(journal ? "" : "%Y-%m-%d %H:%M:%S.%e ") +
                                                  "%n[" + process_id() + "] %l: %*");
    spdlog::set_formatter(std::move(formatter));
  }
  spdlog::set_level(spdlog::level::from_str(options.level));
  spdlog::flush_on(spdlog::level::trace);
}

LogOptions log_options() {
  return {spdlog::level::to_string_view(spdlog::get_level()).data(), log_format};
}

void log_fields(spdlog::level::level_enum level, const std::string& message, const LogFields& subject,
                const LogFields& fields) {
  if (!spdlog::should_log(level)) return;
  std::string text = message;
  if (log_format == LogFormat::Text) {
    text += ":";
    for (const LogField& field : fields) text += " " + field.name + "=" + value_text(field);
  }
  LogFields all = subject;
  all.insert(all.end(), fields.begin(), fields.end());
  fields_of_line = &all;
  spdlog::log(level, "{}", text);
  fields_of_line = nullptr;
}

bool logs_to_journal() {
  return journal_sink != nullptr;
}

void log_line_of_worker(std::string_view line, const LogFields& fields) {
  if (journal_sink->add(line, named_level(line), "worker", &fields)) return;
  const std::string text = protocol::printable(line) + '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

bool LogLimit::admit() {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (now - second_ > std::chrono::seconds(1)) {
    second_ = now;
    lines_ = 0;
  }
  if (lines_ == lines_per_second_) {
    ++held_back_;
    return false;
  }
  ++lines_;
  return true;
}

std::uint64_t LogLimit::take_held_back() {
  const std::lock_guard lock(mutex_);
  return std::exchange(held_back_, 0);
}

bool LogLimit::idle() const {
  const std::lock_guard lock(mutex_);
  return held_back_ == 0 && Clock::now() - second_ > std::chrono::seconds(1);
}

void warn_limited(LogLimit& limit, const std::string& line) {
  if (!limit.admit()) return;
  if (const std::uint64_t held_back = limit.take_held_back(); held_back > 0) {
    spdlog::warn("{} ({} similar lines were held back before)", line, held_back);
  } else {
    spdlog::warn("{}", line);
  }
}

}  // namespace clique::daemon
