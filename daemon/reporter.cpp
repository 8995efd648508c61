#include "daemon/reporter.hpp"

#include <chrono>
#include <thread>

namespace clique::daemon {

namespace {

using namespace std::chrono_literals;

/// How long to wait for room in shared memory without any progress.
constexpr auto kPatience = 100ms;
constexpr auto kPause = 20us;

}  // namespace

void Reporter::open(std::string client, std::shared_ptr<protocol::SharedMemory> shared,
                    const protocol::Attached& first) {
  client_ = std::move(client);
  shared_ = std::move(shared);
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
    // What the client waits for may be waiting here.
    flush();
    std::this_thread::sleep_for(kPause);
    block = shared_->take(size);
  }
  crowded_ = !block;
  return block;
}

bool Reporter::send() {
  using Sent = protocol::SharedMemory::Sent;
  if (shared_) {
    const Sent sent = shared_->try_send(outgoing_);
    if (sent == Sent::Yes) return true;
    if (sent == Sent::RingFull || !shared_->try_send_elsewhere()) return false;
  }
  // A client that is gone is noticed by the session; until then there is nothing to be done about it here.
  protocol::send(socket_, outgoing_, client_);
  return true;
}

void Reporter::flush() {
  std::unique_lock lock(mutex_);
  if (sending_ || !open_) return;
  sending_ = true;
  bool sent = true;
  while (sent && !(pending_.empty() && outgoing_.empty())) {
    if (outgoing_.empty()) std::swap(pending_, outgoing_);
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

void Reporter::drain() {
  {
    const std::lock_guard lock(mutex_);
    if (sending_ || !open_) return;
    sending_ = true;
  }
  zmq::message_t dropped;
  while (socket_.recv(dropped, zmq::recv_flags::dontwait)) {
  }
  {
    const std::lock_guard lock(mutex_);
    sending_ = false;
  }
  flush();
}

void Reporter::ended_elsewhere(protocol::CommandId command) {
  // Sessions that never print must not collect these for ever; the client has long heard of older ones.
  constexpr std::size_t kRemembered = 256;
  const std::lock_guard lock(mutex_);
  ended_elsewhere_.push_back(command);
  if (ended_elsewhere_.size() > kRemembered) ended_elsewhere_.pop_front();
}

void Reporter::add_prints() {
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
