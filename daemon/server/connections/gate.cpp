#include "daemon/server/connections/gate.hpp"

#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
// After what it needs.
#include <linux/vm_sockets.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "protocol/batch.hpp"
#include "protocol/decode_error.hpp"
#include "protocol/messages.hpp"
#include "protocol/socket_address.hpp"
#include "protocol/tcp.hpp"

namespace clique::daemon {

namespace {

using namespace std::chrono_literals;

/// The longest message: clients send nothing but Hello, and perhaps Steer, Choice or Reach, which has the
/// names of some hosts.
constexpr std::size_t kLongestHello = 8U << 10U;
/// The largest number of connections that have not sent Hello yet, or have been answered already. A
/// well-behaved client takes some milliseconds for either.
constexpr std::size_t kMaxStrangers = 128;
/// How long a connection may take until its Hello has arrived.
constexpr auto kHelloTime = 5s;
/// How long sending an answer may take before the connection is closed.
constexpr auto kFarewellTime = 5s;
/// How often to look for connections that have exceeded their time.
constexpr auto kCheckInterval = 500ms;
/// How a connection to a host that is gone is noticed.
constexpr auto kProbeInterval = 2s;
constexpr int kProbes = 3;
constexpr auto kSilence = 8s;
/// The largest number of connections that one turn accepts. The system hands them over in the order in which
/// they came, whatever their addresses.
constexpr int kAcceptsPerTurn = 16;
/// The largest number of one address's connections that one turn serves; the others wait for the next turn.
/// Proving a key takes most of the time.
constexpr int kServedPerAddress = 8;
/// The largest number of connections that one turn looks at: more than may be at the gate.
constexpr std::size_t kReadyPerTurn = 1024;
/// The number that stands for the listening socket; guests count from 1.
constexpr GuestId kListener = 0;
/// The same of the one for virtual machines.
constexpr GuestId kVsockListener = ~GuestId{0};

[[noreturn]] void fail(const char* call) {
  throw std::system_error(errno, std::generic_category(), call);
}

Fd listen_on(const protocol::SocketAddress& address) {
  Fd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) fail("socket");
  constexpr int kOn = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof kOn);
  if (::bind(socket.get(), address.get(), address.size()) != 0) fail("bind");
  if (::listen(socket.get(), SOMAXCONN) != 0) fail("listen");
  return socket;
}

protocol::SocketAddress address_of(const ListenAddress& listen) {
  const auto address = protocol::numeric_address(listen.address, listen.port);
  if (!address) throw std::system_error(EADDRNOTAVAIL, std::generic_category(), listen.address);
  return *address;
}

std::uint16_t port_of(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) fail("getsockname");
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<sockaddr_in&>(address).sin_port);
}

}  // namespace

Gate::Gate(const ListenAddress& listen, bool vsock, const protocol::Identity& identity)
    : tls_(protocol::TlsContext::Role::Node, identity),
      listener_(listen_on(address_of(listen))),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      port_(port_of(listener_.get())) {
  if (!events_) fail("epoll_create1");
  watch(listener_.get(), kListener, EPOLLIN, true);
  if (!vsock) return;
  vsock_listener_ = listen_on(protocol::vsock_address(VMADDR_CID_ANY, port_));
  watch(vsock_listener_.get(), kVsockListener, EPOLLIN, true);
}

void Gate::watch(int fd, GuestId guest, std::uint32_t events, bool first) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = guest;
  ::epoll_ctl(events_.get(), first ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
}

Arrivals Gate::turn() {
  Arrivals arrivals;
  std::array<epoll_event, kReadyPerTurn> events{};
  std::map<std::string, int> served;
  const int count = ::epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const GuestId id = events.at(static_cast<std::size_t>(i)).data.u64;
    if (id == kListener || id == kVsockListener) {
      const int listener = id == kListener ? listener_.get() : vsock_listener_.get();
      for (int accepted = 0; accepted < kAcceptsPerTurn && accept(listener);) ++accepted;
    } else if (const auto guest = guests_.find(id);
               guest != guests_.end() && served[guest->second.host]++ < kServedPerAddress) {
      serve(guest, arrivals);
    }
  }
  close_late();
  return arrivals;
}

bool Gate::accept(int listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  Fd socket(::accept4(listener, reinterpret_cast<sockaddr*>(&address), &size, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket) {
    if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return false;
    warn_limited(warnings_, fmt::format("a connection waits because the node has too few descriptors or too "
                                        "little memory ({}); raise the limit of open files of cliqued",
                                        std::generic_category().message(errno)));
    return make_room();
  }
  while (strangers() >= kMaxStrangers && make_room()) {
  }
  protocol::notice_lost_host(socket.get(), kProbeInterval, kProbes, kSilence);
  Connection connection;
  protocol::AddressText names = protocol::text_of(address, size);
  connection.address = std::move(names.whole);
  connection.host = std::move(names.host);
  connection.until = Clock::now() + kHelloTime;
  spdlog::trace("connection {} comes from {}", last_ + 1, connection.address);
  const int fd = socket.get();
  connection.socket = std::move(socket);
  guests_.emplace(++last_, std::move(connection));
  watch(fd, last_, EPOLLIN | EPOLLRDHUP, true);
  return true;
}

std::size_t Gate::strangers() const {
  std::size_t count = 0;
  for (const auto& [id, guest] : guests_) count += guest.stage != Stage::Guest ? 1 : 0;
  return count;
}

bool Gate::make_room() {
  std::map<std::string, std::size_t> counts;
  for (const auto& [id, guest] : guests_)
    if (guest.stage != Stage::Guest) ++counts[guest.host];
  auto victim = guests_.end();
  for (auto guest = guests_.begin(); guest != guests_.end(); ++guest)
    if (guest->second.stage != Stage::Guest &&
        (victim == guests_.end() || counts[guest->second.host] > counts[victim->second.host]))
      victim = guest;
  if (victim == guests_.end()) return false;
  drop(victim, "made room for others");
  return true;
}

std::optional<bool> Gate::is_stream(Connections::iterator connection) {
  std::uint8_t first = 0;
  const ssize_t count = ::recv(connection->second.socket.get(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
  if (count > 0) return first == protocol::StreamRequest::kFirstByte;
  if (count == 0 || (errno != EAGAIN && errno != EINTR)) drop(connection, "");
  return std::nullopt;
}

void Gate::read_request(Connections::iterator connection, std::vector<StreamVisit>& streams) {
  Connection& guest = connection->second;
  StreamVisit visit;
  const std::size_t before = guest.request.size();
  guest.request.resize(visit.request.size());
  const ssize_t count =
      ::recv(guest.socket.get(), guest.request.data() + before, guest.request.size() - before, MSG_DONTWAIT);
  guest.request.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) {
    drop(connection, "");
    return;
  }
  if (guest.request.size() < visit.request.size()) return;
  std::copy(guest.request.begin(), guest.request.end(), visit.request.begin());
  const auto worker = protocol::StreamRequest::worker_of(visit.request);
  if (!worker) {
    drop(connection, "speaks neither TLS nor this version of the protocol of streams");
    return;
  }
  spdlog::trace("connection {} is for a worker", connection->first);
  visit.worker = *worker;
  visit.socket = std::move(guest.socket);
  visit.address = std::move(guest.address);
  ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, visit.socket.get(), nullptr);
  guests_.erase(connection);
  streams.push_back(std::move(visit));
}

void Gate::serve(Connections::iterator connection, Arrivals& arrivals) {
  Connection& guest = connection->second;
  if (!guest.channel) {
    const auto stream = is_stream(connection);
    if (!stream) return;
    if (*stream || !guest.request.empty()) {
      read_request(connection, arrivals.streams);
      return;
    }
    try {
      guest.channel = std::make_unique<protocol::TlsChannel>(tls_, std::move(guest.socket), kLongestHello);
    } catch (const protocol::SecurityError& error) {
      drop(connection, error.what());
      return;
    }
  }
  if (!work(connection)) return;
  while (const auto records = guest.channel->receive()) {
    if (guest.stage != Stage::Stranger) {
      drop(connection, "sent more than one message");
      return;
    }
    try {
      read_hello(connection, records, arrivals.greetings);
    } catch (const protocol::DecodeError& error) {
      drop(connection, fmt::format("sent a malformed message: {}", error.what()));
      return;
    }
  }
}

void Gate::read_hello(Connections::iterator connection, const std::shared_ptr<const std::string>& records,
                      std::vector<Greeting>& greetings) {
  Connection& guest = connection->second;
  std::optional<protocol::Hello> hello;
  std::optional<protocol::Steer> steer;
  std::optional<protocol::Choice> choice;
  std::optional<protocol::Reach> reach;
  const auto take = [&](auto&& message) {
    using M = std::remove_cvref_t<decltype(message)>;
    if constexpr (std::is_same_v<M, protocol::Hello>) {
      if (hello) throw protocol::DecodeError("more than one Hello");
      hello = std::forward<decltype(message)>(message);
    } else if constexpr (std::is_same_v<M, protocol::Choice>) {
      if (!hello || choice) throw protocol::DecodeError("a Choice that does not follow its Hello");
      choice = std::forward<decltype(message)>(message);
    } else if constexpr (std::is_same_v<M, protocol::Reach>) {
      if (!hello || reach) throw protocol::DecodeError("a Reach that does not follow its Hello");
      reach = std::forward<decltype(message)>(message);
    } else {
      if (!hello || steer) throw protocol::DecodeError("a Steer that does not follow its Hello");
      steer = std::forward<decltype(message)>(message);
    }
  };
  using Messages = protocol::MessageList<protocol::Hello, protocol::Steer, protocol::Choice, protocol::Reach>;
  protocol::BatchReader().read(Messages{}, std::as_bytes(std::span(*records)), {}, records, take);
  if (!hello) throw protocol::DecodeError("no message");
  const bool reserves = hello->wish == protocol::Wish::Reserve;
  if (steer.has_value() != (hello->wish == protocol::Wish::Steer) ||
      reach.has_value() != (hello->wish == protocol::Wish::Reach) ||
      (choice.has_value() ? !reserves && hello->wish != protocol::Wish::Session : reserves))
    throw protocol::DecodeError("a Hello whose wish and message do not match");
  spdlog::trace("connection {}: Hello of {} with wish {}", connection->first, hello->client,
                static_cast<std::uint64_t>(hello->wish));
  guest.stage = Stage::Guest;
  guest.until.reset();
  const int socket = guest.channel->fd();
  greetings.push_back(
      {connection->first,
       {guest.address, owners_.of_other_end(socket), guest.channel->peer(), guest.channel->binding()},
       std::move(*hello),
       std::move(steer).value_or(protocol::Steer{}),
       std::move(reach).value_or(protocol::Reach{}),
       std::move(choice)});
}

bool Gate::send(GuestId guest, const protocol::Batch& batch) {
  const auto found = guests_.find(guest);
  if (found == guests_.end()) return false;
  try {
    found->second.channel->send(batch);
  } catch (const protocol::SecurityError& error) {
    // A connection that the other end has broken must not end the daemon.
    drop(found, error.what());
    return false;
  }
  return work(found);
}

bool Gate::work(Connections::iterator connection) {
  Connection& guest = connection->second;
  try {
    guest.channel->work();
  } catch (const protocol::SecurityError& error) {
    drop(connection, guest.channel->foreign() ? "does not speak TLS, like clients of older releases of Clique"
                                              : error.what());
    return false;
  }
  if (guest.channel->ended()) {
    drop(connection, "");
    return false;
  }
  if (const bool waits = guest.channel->wants_to_send(); waits != guest.waits_to_send) {
    guest.waits_to_send = waits;
    watch(guest.channel->fd(), connection->first, EPOLLIN | EPOLLRDHUP | (waits ? EPOLLOUT : 0U), false);
  }
  return true;
}

void Gate::drop(Connections::iterator connection, const std::string& why) {
  spdlog::trace("connection {} is over", connection->first);
  if (!why.empty())
    warn_limited(warnings_, fmt::format("dropped {}: it {}", connection->second.address, why));
  guests_.erase(connection);
}

void Gate::refuse(GuestId guest, const std::string& reason) {
  if (answer(guest, protocol::Refused{reason})) let_go(guest);
}

void Gate::let_go(GuestId guest) {
  const auto leaving = guests_.find(guest);
  if (leaving == guests_.end()) return;
  spdlog::trace("connection {} has its answer", guest);
  leaving->second.stage = Stage::Leaving;
  leaving->second.until = Clock::now() + kFarewellTime;
}

void Gate::dismiss(GuestId guest) {
  guests_.erase(guest);
}

void Gate::close() {
  listener_ = Fd();
  vsock_listener_ = Fd();
}

void Gate::close_late() {
  const auto now = Clock::now();
  if (now < next_check_) return;
  next_check_ = now + kCheckInterval;
  std::erase_if(guests_,
                [now](const auto& guest) { return guest.second.until && now > *guest.second.until; });
}

}  // namespace clique::daemon
