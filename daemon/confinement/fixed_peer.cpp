#include "daemon/confinement/fixed_peer.hpp"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "protocol/fd.hpp"
#include "protocol/throw_errno.hpp"

namespace clique::daemon::confinement {

namespace {

/// Programs of classic BPF that accept a packet if it satisfies all conditions.
class Program {
 public:
  /// The value that `load` loads, of which `mask` counts, is `wanted`.
  void require(std::uint16_t load, std::uint32_t at, std::uint32_t mask, std::uint32_t wanted) {
    code_.push_back(BPF_STMT(static_cast<std::uint16_t>(BPF_LD | BPF_ABS | load), at));
    code_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
    // Skips the refusal that follows.
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, wanted, 1, 0));
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
  }
  /// Has the kernel run the program on whatever the socket is to receive, for good.
  void attach(int socket) {
    constexpr std::uint32_t kAll = 0xFFFFFFFF;
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, kAll));
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    if (::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0)
      throw_errno("SO_ATTACH_FILTER");
    constexpr int kOn = 1;
    if (::setsockopt(socket, SOL_SOCKET, SO_LOCK_FILTER, &kOn, sizeof kOn) != 0)
      throw_errno("SO_LOCK_FILTER");
  }

 private:
  std::vector<sock_filter> code_;
};

constexpr std::uint32_t kEverything = 0xFFFFFFFF;

/// Requires that a packet is of this version of IP and has this sender, in the order of the network.
/// @param at where the sender is in the header
void require_sender(Program& program, std::uint32_t version, std::uint32_t at,
                    std::span<const std::uint8_t> sender, in_port_t port) {
  const auto in_header = [](std::uint32_t offset) {
    return static_cast<std::uint32_t>(SKF_NET_OFF) + offset;
  };
  program.require(BPF_B, in_header(0), 0xF0, version << 4U);
  for (std::size_t i = 0; i < sender.size(); i += sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    std::memcpy(&word, sender.data() + i, sizeof word);
    program.require(BPF_W, in_header(at + static_cast<std::uint32_t>(i)), kEverything, ntohl(word));
  }
  // The header of TCP begins with the port.
  program.require(BPF_H, 0, kEverything, ntohs(port));
}

bool fixes_a_peer() {
  try {
    try_fixing_a_peer();
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace

bool can_fix_peers() {
  static const bool can = fixes_a_peer();
  return can;
}

void fix_peer(int socket) {
  if (!can_fix_peers()) return;
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) != 0) throw_errno("getpeername");
  // Where the sender is in the headers of IP.
  constexpr std::uint32_t kInIpv4 = 12;
  constexpr std::uint32_t kInIpv6 = 8;
  Program program;
  if (peer.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(peer);
    std::array<std::uint8_t, sizeof address.sin_addr> sender{};
    std::memcpy(sender.data(), &address.sin_addr, sender.size());
    require_sender(program, 4, kInIpv4, sender, address.sin_port);
  } else if (peer.ss_family == AF_INET6) {
    const auto& address = reinterpret_cast<const sockaddr_in6&>(peer);
    const std::span<const std::uint8_t> sender(address.sin6_addr.s6_addr);
    // The last four bytes of such an address are that of IPv4, by which its packets come.
    if (IN6_IS_ADDR_V4MAPPED(&address.sin6_addr))
      require_sender(program, 4, kInIpv4, sender.last(sizeof(in_addr)), address.sin6_port);
    else
      require_sender(program, 6, kInIpv6, sender, address.sin6_port);
  } else {
    return;
  }
  program.attach(socket);
}

void try_fixing_a_peer() {
  // A socket of TCP: unprivileged processes may filter what others receive.
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  try {
    if (!socket) throw_errno("socket");
    Program().attach(socket.get());
  } catch (const std::system_error& error) {
    throw std::runtime_error(
        std::string(
            "Landlock does not know TCP here, and this kernel allows no filter of what a socket receives: ") +
        error.what());
  }
}

}  // namespace clique::daemon::confinement
