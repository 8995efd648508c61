#include "daemon/reporter.hpp"

namespace clique::daemon {

void Reporter::open(std::string client, const protocol::Attached& first) {
  client_ = std::move(client);
  outgoing_.add(first);
  protocol::send(socket_, outgoing_, client_);
  {
    const std::lock_guard lock(mutex_);
    open_ = true;
  }
  flush();
}

void Reporter::flush() {
  std::unique_lock lock(mutex_);
  if (sending_ || !open_) return;
  sending_ = true;
  while (!pending_.empty()) {
    std::swap(pending_, outgoing_);
    lock.unlock();
    // A client that is gone is noticed by the session; until then there is nothing to be done about it here.
    protocol::send(socket_, outgoing_, client_);
    lock.lock();
  }
  sending_ = false;
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
