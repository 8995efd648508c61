#include "daemon/worker/reports/reporter.hpp"

#include <chrono>
#include <thread>

#include "protocol/messages.hpp"

namespace clique::daemon {

namespace {

using namespace std::chrono_literals;

/// How long to wait for room in shared memory.
constexpr auto kPatience = 100ms;
constexpr auto kPause = 20us;
/// As many reports are sent at once, though nobody waits for them: about 10 KiB.
constexpr unsigned kMostUnhurried = 256;

std::int64_t steady_ns() {
  return std::chrono::steady_clock::now().time_since_epoch() / 1ns;
}

}  // namespace

Reporter::Reporter(zmq::socket_t socket, PrintCapture& prints, Tasks& tasks, WaitingData& waiting)
    : socket_(std::move(socket)), tasks_(tasks), waiting_(waiting), prints_(prints) {}

void Reporter::open(std::shared_ptr<protocol::BatchLine> line, std::string client,
                    std::shared_ptr<protocol::SharedMemory> shared, const protocol::Attached& first) {
  stream_ = std::move(line);
  client_ = std::move(client);
  shared_ = std::move(shared);
  if (!stream_) descriptor_ = socket_.get(zmq::sockopt::fd);
  resumable_ = !stream_ && !shared_ && first.resume_ms > 0;
  if (!resumable_) line_.keep_nothing();
  outgoing_.add(first);
  {
    const std::lock_guard lock(mutex_);
    open_ = true;
  }
  flush();
}

std::shared_ptr<std::byte> Reporter::take(std::size_t size) {
  if (!shared_) return nullptr;
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  auto block = shared_->take(size);
  while (!block && !crowded_ && std::chrono::steady_clock::now() < deadline) {
    // The client may be waiting for what has not been sent yet.
    flush();
    std::this_thread::sleep_for(kPause);
    block = shared_->take(size);
  }
  crowded_ = !block;
  return block;
}

bool Reporter::send() {
  using Sent = protocol::SharedMemory::Sent;
  const std::uint64_t bytes = bytes_of(outgoing_);
  if (shared_) {
    const Sent sent = shared_->try_send(outgoing_);
    if (sent == Sent::Yes) {
      to_memory_.add(bytes);
      return true;
    }
    if (sent == Sent::RingFull || !shared_->try_send_elsewhere()) return false;
  }
  to_network_.add(bytes);
  // The session notices when the client is gone.
  if (stream_) {
    stream_->send(outgoing_);
    return true;
  }
  line_.send(socket_, outgoing_, client_);
  // Reading the events resets the descriptor, so the main thread has to be told in another way.
  if (resumable_ && (socket_.get(zmq::sockopt::events) & ZMQ_POLLIN) != 0 && !news_.exchange(true))
    tasks_.post([] {});
  return true;
}

void Reporter::add_unhurried(const protocol::EventState& state) {
  const std::lock_guard lock(mutex_);
  add_prints();
  pending_.add(state);
  if (++unhurried_ == kMostUnhurried) urgent_ = true;
  if (unhurried_ > 1) return;
  oldest_unhurried_ = steady_ns();
  // The main thread may sleep for longer.
  tasks_.post([] {});
}

void Reporter::flush_unhurried() {
  const std::int64_t oldest = oldest_unhurried_;
  constexpr std::int64_t kLongest = protocol::kLongestUnhurried / 1ns;
  if (oldest == 0 || steady_ns() - oldest < kLongest) return;
  {
    const std::lock_guard lock(mutex_);
    urgent_ = true;
  }
  flush();
}

void Reporter::flush() {
  std::unique_lock lock(mutex_);
  if (sending_ || !open_) return;
  sending_ = true;
  bool sent = true;
  while (sent && (urgent_ || !outgoing_.empty())) {
    if (outgoing_.empty()) {
      std::swap(pending_, outgoing_);
      urgent_ = false;
      unhurried_ = 0;
      oldest_unhurried_ = 0;
    }
    lock.unlock();
    sent = send();
    lock.lock();
  }
  behind_.store(!sent, std::memory_order_relaxed);
  sending_ = false;
}

bool Reporter::settled() {
  const std::lock_guard lock(mutex_);
  return !sending_ && pending_.empty() && outgoing_.empty();
}

/// Takes the socket and the line, unless another thread has them; at its end, sends what was added meanwhile.
class Reporter::Turn {
 public:
  explicit Turn(Reporter& reporter) : reporter_(reporter) {
    const std::lock_guard lock(reporter.mutex_);
    has_ = reporter.open_ && !reporter.sending_;
    if (has_) reporter.sending_ = true;
  }
  ~Turn() {
    if (!has_) return;
    {
      const std::lock_guard lock(reporter_.mutex_);
      reporter_.sending_ = false;
    }
    reporter_.flush();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return has_; }

 private:
  Reporter& reporter_;
  bool has_;
};

bool Reporter::hear(const protocol::Incoming& incoming) {
  if (incoming.routing_id != client_) return false;
  reader_.read(protocol::MessageList<protocol::Received>{}, incoming.records, incoming.frames, incoming.owner,
               [this](protocol::Received&& message) { line_.received(message.batches); });
  return true;
}

void Reporter::hear() {
  if (stream_ && !shared_) {
    try {
      stream_->listen();
    } catch (const std::exception&) {
      // The main thread meets the same error when it receives.
    }
  }
  if (!resumable_) return;
  const Turn turn(*this);
  if (!turn) return;
  protocol::Incoming incoming;
  while (protocol::receive(socket_, incoming)) {
    try {
      if (hear(incoming)) continue;
    } catch (const protocol::DecodeError&) {
      // The main thread meets the same error in receive(), which ends the session.
    }
    strangers_.push_back(std::move(incoming));
    if (!news_.exchange(true)) tasks_.post([] {});
  }
}

void Reporter::receive(const std::function<std::optional<std::uint64_t>(const protocol::Incoming&)>& attach) {
  // Before the turn, so that news that arrives while another thread has it is not forgotten.
  news_.store(false);
  const Turn turn(*this);
  if (!turn) {
    news_.store(true);
    return;
  }
  protocol::Incoming incoming;
  const auto next = [&] {
    if (strangers_.empty()) return protocol::receive(socket_, incoming);
    incoming = std::move(strangers_.front());
    strangers_.pop_front();
    return true;
  };
  while (next()) {
    if (hear(incoming)) continue;
    if (const auto received = attach(incoming)) {
      client_ = incoming.routing_id;
      protocol::Batch answer;
      answer.add(protocol::Received{});
      protocol::send(socket_, answer, client_);
      line_.resume(socket_, *received, client_);
    }
  }
}

void Reporter::ended_elsewhere(protocol::CommandId command) {
  // Sessions that never print must not collect these without bound. The client has long had reports of older
  // ones.
  constexpr std::size_t kRemembered = 256;
  const std::lock_guard lock(mutex_);
  ended_elsewhere_.push_back(command);
  if (ended_elsewhere_.size() > kRemembered) ended_elsewhere_.pop_front();
}

void Reporter::add_prints() {
  // Looking takes a system call.
  if (!prints_expected()) return;
  for (auto text = prints_.take(); !text.empty(); text = prints_.take()) {
    pending_.add(protocol::Print{std::move(text), {ended_elsewhere_.begin(), ended_elsewhere_.end()}});
    ended_elsewhere_.clear();
  }
}

void Reporter::close(const std::string& reason) {
  report(protocol::SessionEnded{reason});
  const std::lock_guard lock(mutex_);
  open_ = false;
}

}  // namespace clique::daemon
