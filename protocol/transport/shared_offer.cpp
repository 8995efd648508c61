#include "protocol/transport/shared_offer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "protocol/printable.hpp"
#include "protocol/random.hpp"
#include "protocol/throw_errno.hpp"

namespace clique::protocol {

namespace {

using namespace std::chrono_literals;

/// Time for one packet of the other side, which has nothing else to do, but on a busy host may get no
/// processor for a while.
constexpr auto kPatience = 2s;
/// Bytes of a greeting, or of a refusal.
constexpr std::size_t kMaxText = 1024;
/// Of the names of offers.
constexpr const char* kNamePrefix = "clique-";
/// Sent by whoever has mapped the memory.
constexpr char kTaken = 1;

std::string unguessable_name() {
  std::array<unsigned char, 16> secret{};
  fill_random(secret);
  std::string name = kNamePrefix;
  for (const unsigned char byte : secret) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", byte);
    name += digits.data();
  }
  return name;
}

Fd unix_socket(int flags) {
  Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  if (!socket) throw_errno("socket");
  return socket;
}

/// An address in the abstract name space, which leaves no file behind.
struct Address {
  explicit Address(const std::string& name) {
    native.sun_family = AF_UNIX;
    const std::size_t length = std::min(name.size(), sizeof native.sun_path - 1);
    std::memcpy(native.sun_path + 1, name.data(), length);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&native); }
  sockaddr_un native{};
  socklen_t size = 0;
};

void limit_waiting(int socket, std::chrono::milliseconds time) {
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
  const timeval limit{us / 1'000'000, us % 1'000'000};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/// Repeats a system call that a signal interrupts: the kernel does not restart one with a time limit after a
/// signal handler of the program. The last attempt begins within the time of limit_waiting().
template <typename Call>
auto uninterrupted(int socket, Call&& call) {
  timeval limit{};
  socklen_t size = sizeof limit;
  ::getsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, &size);
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(limit.tv_sec) +
                       std::chrono::microseconds(limit.tv_usec);
  for (;;) {
    const auto result = call();
    if (result >= 0 || errno != EINTR || std::chrono::steady_clock::now() >= give_up) return result;
  }
}

bool same_user(int connection) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::geteuid();
}

bool send_text(int connection, std::string_view text) {
  const auto send = [&] { return ::send(connection, text.data(), text.size(), MSG_NOSIGNAL); };
  return uninterrupted(connection, send) == static_cast<ssize_t>(text.size());
}

/// Receives one packet; empty if none arrives.
std::string receive_text(int connection) {
  std::array<char, kMaxText> packet{};
  const ssize_t size =
      uninterrupted(connection, [&] { return ::recv(connection, packet.data(), packet.size(), 0); });
  return {packet.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

std::string greeting(Guest guest, const std::string& token) {
  return static_cast<char>(guest) + token;
}

/// The description of a client's segment that accompanies its descriptor.
struct SegmentHeader {
  ObjectId id;
  std::uint64_t size;
  std::uint64_t address;
};

/// Takes over the descriptors that came with a packet.
void take_descriptors(msghdr& message, std::vector<Fd>& to) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= header->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header) + (at - CMSG_LEN(0)), sizeof fd);
      to.emplace_back(fd);
    }
  }
}

/// A packet that holds a `Data` and up to `count` descriptors.
template <typename Data, std::size_t count>
struct Packet {
  Packet() {
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = ancillary.data();
    message.msg_controllen = ancillary.size();
  }
  Packet(const Packet&) = delete;
  Packet& operator=(const Packet&) = delete;

  bool send(int connection, const std::array<int, count>& fds) {
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fds);
    std::memcpy(CMSG_DATA(header), fds.data(), sizeof fds);
    const auto send = [&] { return ::sendmsg(connection, &message, MSG_NOSIGNAL); };
    return uninterrupted(connection, send) == static_cast<ssize_t>(sizeof value);
  }
  std::optional<std::array<Fd, count>> receive(int connection) {
    const ssize_t size =
        uninterrupted(connection, [&] { return ::recvmsg(connection, &message, MSG_CMSG_CLOEXEC); });
    // Also of a wrong packet: more of them fit than are wanted, and they would stay open.
    std::vector<Fd> came;
    if (size >= 0) take_descriptors(message, came);
    if (size != static_cast<ssize_t>(sizeof value) || came.size() != count) return std::nullopt;
    std::array<Fd, count> owned;
    std::move(came.begin(), came.end(), owned.begin());
    return owned;
  }

  Data value{};
  iovec data{&value, sizeof value};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(count * sizeof(int))> ancillary{};
  msghdr message{};
};

using MemoryPacket = Packet<char, 3>;
using SegmentPacket = Packet<SegmentHeader, 1>;

/// Connects to the worker that offers memory under this name, and sends the kind of guest and the token.
/// Throws if there is no such offer on this host, or another user made it.
Fd connect_as(Guest guest, const std::string& name, const std::string& token,
              std::chrono::milliseconds timeout) {
  // The name comes from another host, which must not have this process talk to other services of its user.
  if (!name.starts_with(kNamePrefix))
    throw std::runtime_error("the worker's socket has a name that does not begin with " +
                             std::string(kNamePrefix) + ": " + printable(name));
  Fd socket = unix_socket(0);
  limit_waiting(socket.get(), timeout);
  const Address address(name);
  const auto connect = [&] { return ::connect(socket.get(), address.get(), address.size); };
  if (uninterrupted(socket.get(), connect) != 0)
    throw std::runtime_error("the worker cannot be reached through its socket on this host: " +
                             error_text(errno));
  // No other user may see the token.
  if (!same_user(socket.get()))
    throw std::runtime_error("the worker's socket on this host is another user's");
  if (!send_text(socket.get(), greeting(guest, token)))
    throw std::runtime_error("the worker's socket on this host does not accept data: " + error_text(errno));
  return socket;
}

}  // namespace

SharedOffer::SharedOffer()
    : name_(unguessable_name()), listener_(unix_socket(SOCK_NONBLOCK)), memory_(SharedMemory::create()) {
  const Address address(name_);
  if (::bind(listener_.get(), address.get(), address.size) != 0) throw_errno("bind");
  if (::listen(listener_.get(), 4) != 0) throw_errno("listen");
}

std::optional<SharedOffer::Taken> SharedOffer::serve(const std::string& client_token,
                                                     const std::string& peer_token) {
  // accept4() makes a socket before it finds that nobody waits, and the kernel frees that in the midst of
  // what the worker does next.
  pollfd listener{listener_.get(), POLLIN, 0};
  if (::poll(&listener, 1, 0) <= 0) return std::nullopt;
  Fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection) return std::nullopt;
  limit_waiting(connection.get(), kPatience);
  if (!same_user(connection.get())) return std::nullopt;
  const std::string asked = receive_text(connection.get());
  if (asked == greeting(Guest::Segment, client_token)) return take_segment(std::move(connection));
  const bool client = asked == greeting(Guest::Client, client_token);
  if (!client && asked != greeting(Guest::Peer, peer_token)) return std::nullopt;
  if (client ? client_has_it_ : peers_ == kMostPeers) return std::nullopt;
  Taken taken{client ? Guest::Client : Guest::Peer, client ? memory_ : SharedMemory::create(), {}};
  if (!MemoryPacket().send(connection.get(), taken.memory->descriptors()) ||
      receive_text(connection.get()) != std::string(1, kTaken))
    return std::nullopt;
  client_has_it_ = client_has_it_ || client;
  peers_ += client ? 0 : 1;
  return taken;
}

std::optional<SharedOffer::Taken> SharedOffer::take_segment(Fd connection) {
  SegmentPacket packet;
  auto fds = packet.receive(connection.get());
  if (!fds) return std::nullopt;
  const auto& [id, size, address] = packet.value;
  try {
    auto memory = SharedSegment::open(std::move((*fds)[0]), size);
    return Taken{Guest::Segment, nullptr, {std::move(memory), id, address, std::move(connection)}};
  } catch (const std::exception& error) {
    send_text(connection.get(), error.what());
    return std::nullopt;
  }
}

bool SharedOffer::answer(const Segment& segment, std::string_view refusal) {
  const std::string_view text = refusal.empty() ? std::string_view(&kTaken, 1) : refusal;
  return send_text(segment.client.get(), text.substr(0, kMaxText));
}

std::shared_ptr<SharedMemory> take_shared_offer(const std::string& name, const std::string& token,
                                                Guest guest, std::chrono::milliseconds timeout) {
  try {
    const Fd socket = connect_as(guest, name, token, timeout);
    auto fds = MemoryPacket().receive(socket.get());
    if (!fds) return nullptr;
    auto memory = SharedMemory::open(std::move((*fds)[0]), std::move((*fds)[1]), std::move((*fds)[2]));
    return send_text(socket.get(), std::string_view(&kTaken, 1)) ? memory : nullptr;
  } catch (const std::exception&) {
    // The sockets do the same, but slower.
    return nullptr;
  }
}

std::string give_segment(const std::string& name, const std::string& token, ObjectId id,
                         const SharedSegment& segment, std::uint64_t address,
                         std::chrono::milliseconds timeout) {
  try {
    const Fd socket = connect_as(Guest::Segment, name, token, timeout);
    SegmentPacket packet;
    packet.value = {id, segment.bytes().size(), address};
    if (!packet.send(socket.get(), {segment.descriptor()})) return "the memory cannot be sent to the worker";
    const std::string answer = receive_text(socket.get());
    if (answer.empty())
      return "the worker has not answered within " + std::to_string(timeout.count()) + " ms, or has ended";
    return answer == std::string(1, kTaken) ? "" : printable(answer);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace clique::protocol
