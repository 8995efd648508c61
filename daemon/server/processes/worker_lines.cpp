#include "daemon/server/processes/worker_lines.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/no_signals.hpp"
#include "protocol/printable.hpp"

namespace clique::daemon {

namespace {

/// A longer line is handed over in pieces, in bytes.
constexpr std::size_t kLongestWorkerLine = 16U << 10U;
/// Read from one worker before it is the turn of others, in bytes.
constexpr std::size_t kWorkerLinesTurn = 64U << 10U;
/// How long lines are held back before the log says how many.
constexpr std::chrono::seconds kHeldBackInterval{1};

/// The object that the line is, if it says that it is of this worker, as the lines of its log do; empty
/// otherwise. Their values are texts and numbers.
std::string json_of_worker(std::string_view line, pid_t process) {
  using Json = nlohmann::ordered_json;
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object()) return {};
  const auto is = [&](const char* name, const Json& value) {
    const auto found = object.find(name);
    return found != object.end() && *found == value;
  };
  if (!is("process", "worker") || !is("pid", process)) return {};
  if (std::any_of(object.begin(), object.end(), [](const Json& value) { return value.is_structured(); }))
    return {};
  constexpr bool kAscii = true;
  return object.dump(-1, ' ', kAscii);
}

/// The same for lines of text.
std::string text_of_worker(std::string_view line, pid_t process) {
  // A time stamp may precede it.
  const std::size_t begin = std::min(line.find_first_not_of("0123456789-:. "), line.size());
  if (!line.substr(begin).starts_with("worker[" + std::to_string(process) + "] ")) return {};
  return protocol::printable(line, kLongestWorkerLine);
}

void write_line(std::string line) {
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

/// The line without control characters but tabs, which reports for people have.
std::string without_control_characters(std::string_view line) {
  std::string shown;
  for (std::size_t end = 0; (end = line.find('\t')) != std::string_view::npos; line.remove_prefix(end + 1))
    shown += protocol::printable(line.substr(0, end), kLongestWorkerLine) + '\t';
  return shown + protocol::printable(line, kLongestWorkerLine);
}

}  // namespace

std::string own_line_of_worker(std::string_view line, pid_t process, LogFormat format) {
  return format == LogFormat::Json ? json_of_worker(line, process) : text_of_worker(line, process);
}

struct WorkerLines::State {
  using Clock = std::chrono::steady_clock;

  /// Those who share a limit: the workers of one client, or one worker without a session.
  struct Writers {
    LogLimit limit{LogLimit::kOfOneClientsWorkers};
  };
  struct Reading {
    Reading(Fd from, pid_t worker) : end(std::move(from)), process(worker) {}

    const Fd end;
    const pid_t process;
    // The mutex guards these.
    std::shared_ptr<Writers> writers;
    LogFields fields;
    // Only the thread uses this.
    std::string begun;  ///< of a line
  };

  LinesTo to = LinesTo::Log;
  Fd wakeup;
  std::thread thread;
  std::mutex mutex;  // guards the members below
  std::map<std::uint64_t, std::shared_ptr<Reading>> readings;
  std::map<std::string, std::shared_ptr<Writers>> writers;  // by what the log calls them
  std::uint64_t last = 0;
  bool ends = false;
  // Only the thread uses these.
  LogLimit all{LogLimit::kOfAllWorkers};
  std::optional<Clock::time_point> next_warning;  // none: no lines were held back

  void wake() const {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wakeup.get(), &one, sizeof one));
  }

  /// Makes the reading count for these writers. The caller holds the mutex.
  void count_for(Reading& reading, const std::string& name) {
    auto& found = writers[name];
    if (!found) found = std::make_shared<Writers>();
    reading.writers = found;
  }
  /// Forgets writers that have ended. The caller holds the mutex.
  void forget_ended() {
    std::erase_if(writers,
                  [](const auto& one) { return one.second.use_count() == 1 && one.second->limit.idle(); });
  }

  bool admit(LogLimit& limit) {
    if (spdlog::should_log(spdlog::level::debug) || (limit.admit() && all.admit())) return true;
    if (!next_warning) next_warning = Clock::now() + kHeldBackInterval;
    return false;
  }
  /// Says how many lines were held back.
  void warn() {
    next_warning.reset();
    warn_of("all workers", all);
    decltype(writers) present;
    {
      const std::lock_guard lock(mutex);
      present = writers;
    }
    for (const auto& [name, one] : present) warn_of(name, one->limit);
  }
  static void warn_of(const std::string& name, LogLimit& limit) {
    if (const std::uint64_t held_back = limit.take_held_back(); held_back > 0)
      spdlog::warn("{} wrote more than {} lines in a second to standard error; {} were held back", name,
                   limit.lines_per_second(), held_back);
  }

  void hand_over(Reading& reading, std::string_view line) {
    if (to == LinesTo::Program) return write_line(without_control_characters(line));
    if (line.empty()) return;
    std::shared_ptr<Writers> writers_of_line;
    LogFields fields;
    {
      const std::lock_guard lock(mutex);
      writers_of_line = reading.writers;
      if (logs_to_journal()) fields = reading.fields;
    }
    if (!admit(writers_of_line->limit)) return;
    if (logs_to_journal()) {
      log_line_of_worker(line, fields);
    } else {
      write(reading.process, line);
    }
  }
  static void write(pid_t process, std::string_view line) {
    std::string own = own_line_of_worker(line, process, log_options().format);
    if (own.empty())
      spdlog::info("process {} says: {}", process, line);
    else
      write_line(std::move(own));
  }

  /// Hands over the whole lines that a worker has written. @returns false at the end
  bool read(Reading& reading) {
    std::array<char, kLongestWorkerLine> bytes;
    for (std::size_t read = 0; read < kWorkerLinesTurn;) {
      const ssize_t count = ::read(reading.end.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return true;
      if (count <= 0) {
        if (!reading.begun.empty()) hand_over(reading, reading.begun);
        return false;
      }
      read += static_cast<std::size_t>(count);
      reading.begun.append(bytes.data(), static_cast<std::size_t>(count));
      std::size_t begin = 0;
      for (std::size_t end = 0; (end = reading.begun.find('\n', begin)) != std::string::npos; begin = end + 1)
        hand_over(reading, std::string_view(reading.begun).substr(begin, end - begin));
      reading.begun.erase(0, begin);
      if (reading.begun.size() < kLongestWorkerLine) continue;
      hand_over(reading, reading.begun);
      reading.begun.clear();
    }
    return true;
  }

  /// In milliseconds, as poll() takes it.
  int until_warning() const {
    if (!next_warning) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next_warning - Clock::now());
    return std::max(0, static_cast<int>(left.count()));
  }

  void run() {
    for (;;) {
      std::vector<std::pair<std::uint64_t, std::shared_ptr<Reading>>> present;
      bool last_time = false;
      {
        const std::lock_guard lock(mutex);
        present.assign(readings.begin(), readings.end());
        last_time = ends;
      }
      std::vector<pollfd> ready{{wakeup.get(), POLLIN, 0}};
      for (const auto& [id, reading] : present) ready.push_back({reading->end.get(), POLLIN, 0});
      if (::poll(ready.data(), ready.size(), last_time ? 0 : until_warning()) < 0 && errno != EINTR) return;
      std::uint64_t count = 0;
      if (ready.front().revents != 0) static_cast<void>(!::read(wakeup.get(), &count, sizeof count));
      for (std::size_t i = 0; i < present.size(); ++i) {
        if (ready[i + 1].revents == 0 || read(*present[i].second)) continue;
        const std::lock_guard lock(mutex);
        readings.erase(present[i].first);
      }
      if (last_time || until_warning() == 0) warn();
      if (last_time) return;
    }
  }
};

WorkerLines::WorkerLines(std::shared_ptr<State> state) : state_(std::move(state)) {}

std::unique_ptr<WorkerLines> WorkerLines::start(LinesTo to) {
  auto state = std::make_shared<State>();
  state->to = to;
  state->wakeup = Fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!state->wakeup) throw std::system_error(errno, std::generic_category(), "eventfd");
  const protocol::NoSignals quiet;
  state->thread = std::thread([thread_state = state.get()] { thread_state->run(); });
  return std::unique_ptr<WorkerLines>(new WorkerLines(std::move(state)));
}

WorkerLines::~WorkerLines() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->ends = true;
  }
  state_->wake();
  state_->thread.join();
}

WorkerLines::Pipe WorkerLines::make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {Fd(ends[0]), Fd(ends[1])};
}

std::uint64_t WorkerLines::add(Fd end, pid_t process) {
  auto reading = std::make_shared<State::Reading>(std::move(end), process);
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(state_->mutex);
    id = ++state_->last;
    state_->forget_ended();
    state_->count_for(*reading, "process " + std::to_string(process));
    state_->readings.emplace(id, std::move(reading));
  }
  state_->wake();
  return id;
}

void WorkerLines::describe(std::uint64_t source, const std::string& client, LogFields fields) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->readings.find(source);
  if (found == state_->readings.end()) return;
  state_->count_for(*found->second, "the workers of \"" + client + '"');
  found->second->fields = std::move(fields);
}

}  // namespace clique::daemon
