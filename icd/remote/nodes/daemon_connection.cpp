#include "icd/remote/nodes/daemon_connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "icd/remote/nodes/deadline.hpp"
#include "protocol/batch.hpp"
#include "protocol/decode_error.hpp"
#include "protocol/messages.hpp"
#include "protocol/socket_address.hpp"
#include "protocol/tcp.hpp"
#include "protocol/version.hpp"

namespace clique::icd {

namespace {

using Clock = DaemonConnection::Clock;

/// How long a daemon that has been reached may take to start its drivers.
constexpr std::chrono::seconds kStartTimeout{60};
/// A daemon that starts its drivers says so several times in this time.
constexpr std::chrono::seconds kStartingInterval{5};
/// The longest message: the descriptions of all devices of a node.
constexpr std::size_t kLongestAnswer = 16 * protocol::kMiB;

/// The program, process and host, for the nodes' logs.
std::string self_description() {
  char host[256] = "?";
  ::gethostname(host, sizeof host - 1);
  return std::string(program_invocation_short_name) + "[" + std::to_string(::getpid()) + "]@" + host;
}

/// The daemon's answer. Nothing if the daemon has only said that it is starting; then this extends
/// `deadline`. Throws Unreachable with the reason if the daemon refused.
template <typename Answer>
std::optional<Answer> read_answer(const std::shared_ptr<const std::string>& records,
                                  Clock::time_point& deadline) {
  std::optional<Answer> wanted;
  bool answered = false;
  const auto handler = [&](auto&& answer) {
    using M = std::remove_cvref_t<decltype(answer)>;
    answered = true;
    if constexpr (std::is_same_v<M, Answer>) {
      wanted = std::forward<decltype(answer)>(answer);
    } else if constexpr (std::is_same_v<M, protocol::Refused>) {
      throw Refusal("cliqued refused: " + answer.reason);
    } else {
      deadline = std::max(deadline, Clock::now() + kStartingInterval);
    }
  };
  protocol::BatchReader().read(protocol::MessageList<Answer, protocol::Refused, protocol::Starting>{},
                               std::as_bytes(std::span(*records)), {}, records, handler);
  if (!answered) throw Unreachable("cliqued sent an empty answer");
  return wanted;
}

/// A node that is newer refuses clients that are too old for it, so this one is older.
[[noreturn]] void refuse_version(std::uint32_t theirs) {
  throw Unreachable("its cliqued speaks version " + std::to_string(theirs) +
                    " of the protocol, this library speaks versions " +
                    std::to_string(protocol::kOldestVersion) + " to " + std::to_string(protocol::kVersion) +
                    ". Install a newer release of the package cliqued on the node");
}

/// Begins to connect. Throws Unreachable.
Fd connect_to(const std::string& address, std::uint16_t port) {
  const auto target = protocol::numeric_address(address, port);
  if (!target) throw Unreachable("its address " + address + " is not a valid IPv4 or IPv6 address");
  Fd socket(::socket(target->family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) throw Unreachable(std::string("this process cannot create a socket: ") + std::strerror(errno));
  constexpr int kOn = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof kOn);
  // If it fails, using the connection reports the reason.
  static_cast<void>(::connect(socket.get(), target->get(), target->size()));
  return socket;
}

}  // namespace

DaemonConnection::DaemonConnection(const NodeAddress& node, std::string address, const Trust& trust)
    : node_(node),
      address_(std::move(address)),
      trust_(trust),
      channel_(std::make_unique<protocol::TlsChannel>(trust.tls(), connect_to(address_, node.port),
                                                      kLongestAnswer)) {}

DaemonConnection::~DaemonConnection() = default;

void DaemonConnection::wait(Clock::time_point deadline) const {
  if (Clock::now() < deadline) {
    pollfd ready{channel_->fd(), static_cast<short>(POLLIN | (channel_->wants_to_send() ? POLLOUT : 0)), 0};
    ::poll(&ready, 1, static_cast<int>(left_until(deadline).count()) + 1);
    return;
  }
  if (diagnose(address_, node_.port, Clock::now()) == "connection closed")
    throw Unreachable("a program listens at port " + std::to_string(node_.port) +
                      " but did not answer in time. Check that it is cliqued, and that the host is not "
                      "overloaded");
  throw Unreachable("no answer in time. Check that the host is up and that its firewall admits port " +
                    std::to_string(node_.port));
}

std::string DaemonConnection::somebody() const {
  return "port " + std::to_string(node_.port) +
         " does not belong to cliqued, or to one of another release. Check the port, and install the same "
         "release of Clique on both hosts";
}

template <typename Talk>
auto DaemonConnection::in_words(Talk&& talk) const {
  try {
    return talk();
  } catch (const protocol::SecurityError& error) {
    if (channel_->foreign()) throw Unreachable(somebody());
    throw Cut(std::string(error.what()) + ". Check that it is cliqued that listens at port " +
              std::to_string(node_.port) + "; its log may say why");
  } catch (const protocol::DecodeError&) {
    throw Unreachable(somebody());
  }
}

void DaemonConnection::shake_hands(Clock::time_point deadline) {
  for (channel_->work(); !channel_->open(); channel_->work()) {
    if (channel_->ended()) throw_unconnected(deadline);
    wait(deadline);
  }
}

protocol::PublicKey DaemonConnection::ask_for_key(Clock::time_point deadline) {
  return in_words([&] {
    shake_hands(deadline);
    return channel_->peer();
  });
}

template <typename Answer, typename... M>
Answer DaemonConnection::ask(protocol::Wish wish, Clock::time_point deadline, const M&... details) {
  const auto limit = Clock::now() + kStartTimeout;
  return in_words([&]() -> Answer {
    shake_hands(std::min(deadline, limit));
    trust_.check(node_, channel_->peer(), channel_->fd());
    protocol::Batch request;
    request.add(protocol::Hello{protocol::kVersion, wish, self_description(),
                                trust_.credential(channel_->binding())});
    (request.add(details), ...);
    channel_->send(request);
    for (;;) {
      channel_->work();
      while (const auto records = channel_->receive()) {
        auto answer = read_answer<Answer>(records, deadline);
        if (!answer) continue;
        if (answer->version < protocol::kOldestVersion) refuse_version(answer->version);
        return std::move(*answer);
      }
      if (channel_->ended())
        throw Cut("the connection was closed. The log of cliqued on that node may say why");
      wait(std::min(deadline, limit));
    }
  });
}

void DaemonConnection::throw_unconnected(Clock::time_point deadline) const {
  const std::string cause = diagnose(address_, node_.port, deadline);
  if (cause == "connection closed") throw Cut(somebody());
  throw Unreachable(cause + ". Is cliqued running there? It must listen at port " +
                    std::to_string(node_.port) + " of this address: see its setting 'listen'");
}

protocol::Welcome DaemonConnection::ask_for_session(Clock::time_point deadline,
                                                    const std::optional<protocol::Choice>& choice) {
  return choice ? ask<protocol::Welcome>(protocol::Wish::Session, deadline, *choice)
                : ask<protocol::Welcome>(protocol::Wish::Session, deadline);
}

protocol::Loads DaemonConnection::reserve(const protocol::Choice& choice, Clock::time_point deadline) {
  return ask<protocol::Loads>(protocol::Wish::Reserve, deadline, choice);
}

protocol::Offer DaemonConnection::ask_for_devices(Clock::time_point deadline) {
  return ask<protocol::Offer>(protocol::Wish::Devices, deadline);
}

protocol::Status DaemonConnection::ask_for_status(Clock::time_point deadline) {
  return ask<protocol::Status>(protocol::Wish::Status, deadline);
}

protocol::Reached DaemonConnection::reach(const protocol::Reach& reach, Clock::time_point deadline) {
  return ask<protocol::Reached>(protocol::Wish::Reach, deadline, reach);
}

protocol::Steered DaemonConnection::steer(const protocol::Steer& steer, Clock::time_point deadline) {
  return ask<protocol::Steered>(protocol::Wish::Steer, deadline, steer);
}

std::chrono::microseconds DaemonConnection::round_trip() const {
  return protocol::round_trip(channel_->fd());
}

}  // namespace clique::icd
