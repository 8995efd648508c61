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

void Reporter::add_prints() {
  for (protocol::Print print{prints_.take()}; !print.text.empty(); print.text = prints_.take())
    pending_.add(print);
}

void Reporter::close(const std::string& reason) {
  report(protocol::SessionEnded{reason});
  const std::lock_guard lock(mutex_);
  open_ = false;
}

}  // namespace clique::daemon
