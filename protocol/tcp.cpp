#include "protocol/tcp.hpp"

// The C library's netinet/tcp.h lacks the rate.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>

namespace clique::protocol {

void notice_lost_host(int socket, std::chrono::seconds interval, int probes,
                      std::chrono::milliseconds silence) {
  constexpr int kOn = 1;
  const auto seconds = static_cast<int>(interval.count());
  const auto ms = static_cast<unsigned>(silence.count());
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof kOn);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &kOn, sizeof kOn);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

std::chrono::microseconds round_trip(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::chrono::microseconds(0);
  return std::chrono::microseconds(info.tcpi_rtt);
}

std::optional<double> delivery_rate(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  constexpr std::size_t kLeast = offsetof(tcp_info, tcpi_delivery_rate) + sizeof info.tcpi_delivery_rate;
  // Before this many bytes, the rate tells the round trip of small messages.
  constexpr std::uint64_t kEnough = 1U << 20U;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < kLeast ||
      info.tcpi_bytes_acked < kEnough || info.tcpi_delivery_rate == 0)
    return std::nullopt;
  return static_cast<double>(info.tcpi_delivery_rate);
}

std::optional<Delivery> delivery(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  constexpr std::size_t kLeast = offsetof(tcp_info, tcpi_bytes_retrans) + sizeof info.tcpi_bytes_retrans;
  // The kernel's initial value of the shortest round trip.
  constexpr std::uint32_t kUnknown = ~0U;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 || size < kLeast ||
      info.tcpi_min_rtt == kUnknown)
    return std::nullopt;
  using std::chrono::microseconds;
  return Delivery{info.tcpi_bytes_acked, info.tcpi_bytes_retrans, microseconds(info.tcpi_busy_time),
                  microseconds(info.tcpi_rwnd_limited + info.tcpi_sndbuf_limited),
                  microseconds(info.tcpi_min_rtt)};
}

}  // namespace clique::protocol
