#include "protocol/transport/repair.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "protocol/transport/line.hpp"

namespace clique::protocol {

namespace {

using namespace std::chrono_literals;

/// The pause between two attempts to connect, and the time for one.
constexpr auto kReconnectPause = 100ms;
constexpr auto kConnectTime = 2s;
/// If a port refuses connections for this long, the process that listened there has exited.
constexpr auto kRefusals = 1s;

}  // namespace

void PortProbe::start(const std::string& endpoint) {
  constexpr bool kNumeric = true;
  try {
    address_ = addresses_of(endpoint, kNumeric).front();
  } catch (const std::runtime_error&) {
    return;
  }
  socket_ = Fd(::socket(address_->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  error_ = 0;
  if (started() && ::connect(socket_.get(), address_->get(), address_->size()) != 0 && errno != EINPROGRESS)
    error_ = errno;
}

PortProbe::Answer PortProbe::answer() {
  if (!started()) return Answer::None;
  if (error_ == 0) {
    pollfd ready{socket_.get(), POLLOUT, 0};
    if (::poll(&ready, 1, 0) == 0) return Answer::None;
    socklen_t size = sizeof error_;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error_, &size);
  }
  socket_ = Fd();
  return address_->refused(error_) ? Answer::Refused : Answer::Other;
}

Repair::Advice Repair::look(Line& line, Clock::time_point now, Clock::duration patience) {
  const ConnectionEnd end = line.end();
  if (end == ConnectionEnd::None && line.up()) {
    since_ = attempt_ = refused_ = {};
    probe_ = {};
    return Advice::Fine;
  }
  if (end == ConnectionEnd::Gone) {
    reason_ = "the node has no such session any more: the worker has exited";
    return Advice::GiveUp;
  }
  if (since_ == Clock::time_point{}) since_ = now;
  if (end == ConnectionEnd::Failed && !probe_.started()) probe_.start(line.endpoint());
  if (end == ConnectionEnd::Refused && refused_ == Clock::time_point{}) refused_ = now;
  if (end == ConnectionEnd::Closed) refused_ = {};
  switch (probe_.answer()) {
    case PortProbe::Answer::None:
      break;
    case PortProbe::Answer::Refused:
      if (refused_ == Clock::time_point{}) refused_ = now;
      break;
    case PortProbe::Answer::Other:
      refused_ = {};
      break;
  }
  if (refused_ != Clock::time_point{} && now - refused_ > kRefusals) {
    reason_ = "no process listens at the worker's port any more: the worker has exited";
    return Advice::GiveUp;
  }
  if (now - since_ > patience) {
    reason_ =
        "the connection was closed or became silent, and could not be restored within the resume timeout";
    return Advice::GiveUp;
  }
  if (now - attempt_ <
      (end != ConnectionEnd::None ? Clock::duration(kReconnectPause) : Clock::duration(kConnectTime)))
    return Advice::Wait;
  attempt_ = now;
  return Advice::Reconnect;
}

}  // namespace clique::protocol
