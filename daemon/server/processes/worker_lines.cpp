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
/// Logged of one worker per second, unless the log's level asks for more. The journal takes no more from a
/// service than 10,000 lines in 30 seconds, and those of the daemon must be among them.
constexpr unsigned kMostWorkerLines = 100;

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

/// The same for texts.
std::string text_of_worker(std::string_view line, pid_t process) {
  // A time stamp may precede it.
  const std::size_t begin = std::min(line.find_first_not_of("0123456789-:. "), line.size());
  if (!line.substr(begin).starts_with("worker[" + std::to_string(process) + "] ")) return {};
  return protocol::printable(line, kLongestWorkerLine);
}

}  // namespace

struct WorkerLines::State {
  using Clock = std::chrono::steady_clock;

  struct Reading {
    Reading(Fd from, pid_t worker) : end(std::move(from)), process(worker) {}

    const Fd end;
    const pid_t process;
    LogFields fields;
    // Only the thread uses these.
    std::string begun;  ///< of a line
    Clock::time_point second;
    unsigned lines = 0;  ///< in this second
    std::uint64_t held_back = 0;
  };

  Fd wakeup;
  std::thread thread;
  std::mutex mutex;  // guards the members below
  std::map<std::uint64_t, std::shared_ptr<Reading>> readings;
  std::uint64_t last = 0;
  bool ends = false;

  void wake() const {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(wakeup.get(), &one, sizeof one));
  }

  /// Whether the worker may have another line logged in this second. Says how many it has had too many.
  static bool admit(Reading& reading) {
    const auto now = Clock::now();
    if (now - reading.second > std::chrono::seconds(1)) {
      reading.second = now;
      reading.lines = 0;
    }
    if (++reading.lines > kMostWorkerLines && !spdlog::should_log(spdlog::level::debug)) {
      ++reading.held_back;
      return false;
    }
    if (reading.held_back > 0)
      spdlog::warn(
          "process {} has written more than {} lines in a second to standard error, of which {} were held "
          "back",
          reading.process, kMostWorkerLines, std::exchange(reading.held_back, 0));
    return true;
  }

  void hand_over(Reading& reading, std::string_view line) {
    if (line.empty() || !admit(reading)) return;
    if (!logs_to_journal()) {
      write(reading.process, line);
      return;
    }
    LogFields fields;
    {
      const std::lock_guard lock(mutex);
      fields = reading.fields;
    }
    log_line_of_worker(line, fields);
  }
  static void write(pid_t process, std::string_view line) {
    std::string own = log_options().format == LogFormat::Json ? json_of_worker(line, process)
                                                              : text_of_worker(line, process);
    if (own.empty()) {
      spdlog::info("process {} says: {}", process, line);
      return;
    }
    own += '\n';
    std::fwrite(own.data(), 1, own.size(), stderr);
  }

  /// Hands over the whole lines that a worker has written. @returns false at the end
  bool read(Reading& reading) {
    std::array<char, kLongestWorkerLine> bytes;
    for (std::size_t read = 0; read < kWorkerLinesTurn;) {
      const ssize_t count = ::read(reading.end.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return true;
      if (count <= 0) {
        hand_over(reading, reading.begun);
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
      if (::poll(ready.data(), ready.size(), last_time ? 0 : -1) < 0 && errno != EINTR) return;
      std::uint64_t count = 0;
      if (ready.front().revents != 0) static_cast<void>(!::read(wakeup.get(), &count, sizeof count));
      for (std::size_t i = 0; i < present.size(); ++i) {
        if (ready[i + 1].revents == 0 || read(*present[i].second)) continue;
        const std::lock_guard lock(mutex);
        readings.erase(present[i].first);
      }
      if (last_time) return;
    }
  }
};

WorkerLines::WorkerLines(std::shared_ptr<State> state) : state_(std::move(state)) {}

std::unique_ptr<WorkerLines> WorkerLines::start() {
  auto state = std::make_shared<State>();
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
    state_->readings.emplace(id, std::move(reading));
  }
  state_->wake();
  return id;
}

void WorkerLines::describe(std::uint64_t source, LogFields fields) {
  const std::lock_guard lock(state_->mutex);
  if (const auto found = state_->readings.find(source); found != state_->readings.end())
    found->second->fields = std::move(fields);
}

}  // namespace clique::daemon
