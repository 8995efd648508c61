#include "daemon/server/worker_lines.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/no_signals.hpp"

namespace clique::daemon {

namespace {

/// A longer line is handed over in pieces, in bytes.
constexpr std::size_t kLongestWorkerLine = 4096;
/// Read from one worker before it is the turn of others, in bytes.
constexpr std::size_t kWorkerLinesTurn = 64U << 10U;

}  // namespace

struct WorkerLines::State {
  struct Reading {
    Fd end;
    LogFields fields;
    std::string begun;  ///< of a line; only the thread uses it
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

  void hand_over(const Reading& reading, std::string_view line) {
    if (line.empty()) return;
    LogFields fields;
    {
      const std::lock_guard lock(mutex);
      fields = reading.fields;
    }
    log_line_of_worker(line, fields);
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
  if (!logs_to_journal()) return nullptr;
  auto state = std::make_shared<State>();
  state->wakeup = Fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  try {
    if (!state->wakeup) throw std::system_error(errno, std::generic_category(), "eventfd");
    const protocol::NoSignals quiet;
    state->thread = std::thread([thread_state = state.get()] { thread_state->run(); });
  } catch (const std::system_error& error) {
    spdlog::warn(
        "lines of workers get no fields in the journal: {}; raise TasksMax and LimitNOFILE of the unit, and "
        "restart it",
        error.what());
    return nullptr;
  }
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

WorkerLines::Source WorkerLines::add() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  auto reading = std::make_shared<State::Reading>();
  reading->end = Fd(ends[0]);
  Fd theirs(ends[1]);
  ::fcntl(reading->end.get(), F_SETFL, O_NONBLOCK);
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(state_->mutex);
    id = ++state_->last;
    state_->readings.emplace(id, std::move(reading));
  }
  state_->wake();
  return {id, std::move(theirs)};
}

void WorkerLines::describe(std::uint64_t source, LogFields fields) {
  const std::lock_guard lock(state_->mutex);
  if (const auto found = state_->readings.find(source); found != state_->readings.end())
    found->second->fields = std::move(fields);
}

}  // namespace clique::daemon
