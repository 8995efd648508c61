#include "icd/remote/daemon_connection.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <type_traits>
#include <utility>

#include "icd/remote/deadline.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "protocol/transport/zmq.hpp"
#include "protocol/version.hpp"

namespace clique::icd {

namespace {

using Clock = DaemonConnection::Clock;

/// How long a daemon that has been reached may take to start its drivers.
constexpr std::chrono::seconds kStartTimeout{60};

/// The program, process and host, for the nodes' logs.
std::string self_description() {
  char host[256] = "?";
  ::gethostname(host, sizeof host - 1);
  return std::string(program_invocation_short_name) + "[" + std::to_string(::getpid()) + "]@" + host;
}

/// Waits until the socket or its monitor may have something to receive.
void wait_for_news(zmq::socket_ref socket, protocol::Monitor& monitor, Clock::time_point deadline) {
  pollfd fds[] = {{socket.get(zmq::sockopt::fd), POLLIN, 0}, {monitor.descriptor(), POLLIN, 0}};
  ::poll(fds, 2, static_cast<int>(left_until(deadline).count()));
}

/// The daemon's answer. Nothing if the daemon has only said that it is starting; then this extends
/// `deadline`. Throws Unreachable with the reason if the daemon refused.
template <typename Answer>
std::optional<Answer> read_answer(protocol::Incoming& incoming, Clock::time_point& deadline) {
  std::optional<Answer> wanted;
  bool answered = false;
  const auto handler = [&](auto&& answer) {
    using M = std::remove_cvref_t<decltype(answer)>;
    answered = true;
    if constexpr (std::is_same_v<M, Answer>) {
      wanted = std::forward<decltype(answer)>(answer);
    } else if constexpr (std::is_same_v<M, protocol::Refused>) {
      throw Unreachable("cliqued refused: " + answer.reason);
    } else {
      deadline = std::max(deadline, Clock::now() + kStartTimeout);
    }
  };
  protocol::BatchReader().read(protocol::MessageList<Answer, protocol::Refused, protocol::Starting>{},
                               incoming.records, incoming.frames, incoming.owner, handler);
  if (!answered) throw Unreachable("cliqued sent an empty answer");
  return wanted;
}

[[noreturn]] void refuse_version(std::uint32_t theirs) {
  throw Unreachable("its cliqued speaks version " + std::to_string(theirs) +
                    " of the protocol, this library speaks version " + std::to_string(protocol::kVersion) +
                    ". Install the same release of Clique on both hosts");
}

zmq::socket_t configured(zmq::context_t& zmq) {
  zmq::socket_t socket(zmq, zmq::socket_type::dealer);
  protocol::configure(socket);
  return socket;
}

}  // namespace

DaemonConnection::DaemonConnection(zmq::context_t& zmq, std::string address, std::uint16_t port)
    : address_(std::move(address)), port_(port), socket_(configured(zmq)), monitor_(zmq, socket_) {
  socket_.connect("tcp://" + address_ + ":" + std::to_string(port_));
}

DaemonConnection::~DaemonConnection() {
  monitor_.stop(socket_);
}

template <typename Answer>
Answer DaemonConnection::ask(protocol::Wish wish, Clock::time_point deadline) {
  protocol::Batch hello;
  hello.add(protocol::Hello{protocol::kVersion, wish, self_description()});
  protocol::send(socket_, hello);
  const std::string somebody = "port " + std::to_string(port_) +
                               " is not cliqued's, or its release differs. Check the port, and install the "
                               "same release of Clique on both hosts";
  for (;;) {
    const protocol::Monitor::End end = monitor_.end();
    protocol::Incoming incoming;
    try {
      if (protocol::receive(socket_, incoming)) {
        auto answer = read_answer<Answer>(incoming, deadline);
        if (!answer) continue;
        if (answer->version != protocol::kVersion) refuse_version(answer->version);
        return std::move(*answer);
      }
    } catch (const protocol::DecodeError&) {
      throw Unreachable(somebody);
    }
    switch (end) {
      case protocol::Monitor::End::None:
        break;
      case protocol::Monitor::End::Refused:
        throw Unreachable(diagnose(address_, port_, deadline) + ". Is cliqued running there?");
      case protocol::Monitor::End::Handshake:
        throw Cut(somebody);
      case protocol::Monitor::End::Closed:
        throw Cut("the connection was closed. The log of cliqued on that node may say why");
    }
    if (Clock::now() >= deadline) {
      const std::string cause = diagnose(address_, port_, Clock::now());
      if (cause == "connection closed")
        throw Unreachable("a program listens at port " + std::to_string(port_) +
                          " but did not answer in time. Check that it is cliqued, and that the host is not "
                          "overloaded");
      throw Unreachable("no answer in time. Check that the host is up and that its firewall admits port " +
                        std::to_string(port_));
    }
    wait_for_news(socket_, monitor_, deadline);
  }
}

protocol::Welcome DaemonConnection::ask_for_session(Clock::time_point deadline) {
  return ask<protocol::Welcome>(protocol::Wish::Session, deadline);
}

protocol::Offer DaemonConnection::ask_for_devices(Clock::time_point deadline) {
  return ask<protocol::Offer>(protocol::Wish::Devices, deadline);
}

}  // namespace clique::icd
