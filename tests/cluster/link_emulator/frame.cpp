#include "frame.hpp"

#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cstring>

namespace clique::test {
namespace {

/// Linux's VIRTIO_NET_HDR_GSO_TCPV4 and VIRTIO_NET_HDR_GSO_ECN.
constexpr std::uint8_t kTcp4 = 1;
constexpr std::uint8_t kEcn = 0x80;
constexpr std::uint8_t kTcpCwr = 0x80;

template <typename Header>
Header header_at(std::span<const unsigned char> frame, std::size_t at) {
  Header header{};
  if (at + sizeof header <= frame.size()) std::memcpy(&header, frame.data() + at, sizeof header);
  return header;
}

/// The sum of the Internet's checksums (RFC 1071): 16 bits, with the carry added.
std::uint16_t folded(std::uint32_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffffU) + (sum >> 16U);
  return static_cast<std::uint16_t>(sum);
}

/// The headers of a frame that stands for several packets.
struct Headers {
  explicit Headers(std::span<const unsigned char> frame)
      : virtual_header(header_at<FrameHeader>(frame, 0)),
        tcp4((virtual_header.segmentation & ~kEcn) == kTcp4) {
    tcp_at = ip_at + (tcp4 ? header_at<iphdr>(frame, ip_at).ihl * std::size_t{4} : sizeof(ip6_hdr));
    data_at = tcp_at + header_at<tcphdr>(frame, tcp_at).doff * std::size_t{4};
  }

  FrameHeader virtual_header;
  bool tcp4;  // otherwise TCP over IPv6
  std::size_t ip_at = sizeof(FrameHeader) + kEthernetHeader;
  std::size_t tcp_at;
  std::size_t data_at;
};

/// Gives an IP header the size of the packet and, if it is IPv4's, its number among the packets of the frame.
void correct_ip(unsigned char* at, bool ip4, std::size_t size, std::size_t number) {
  if (!ip4) {
    ip6_hdr ip{};
    std::memcpy(&ip, at, sizeof ip);
    ip.ip6_plen = htons(static_cast<std::uint16_t>(size - sizeof ip));
    std::memcpy(at, &ip, sizeof ip);
    return;
  }
  iphdr ip{};
  std::memcpy(&ip, at, sizeof ip);
  ip.tot_len = htons(static_cast<std::uint16_t>(size));
  ip.id = htons(static_cast<std::uint16_t>(ntohs(ip.id) + number));
  ip.check = 0;
  std::memcpy(at, &ip, sizeof ip);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < ip.ihl * std::size_t{4}; i += 2) {
    std::uint16_t word = 0;
    std::memcpy(&word, at + i, sizeof word);
    sum += word;
  }
  ip.check = static_cast<std::uint16_t>(~folded(sum));
  std::memcpy(at, &ip, sizeof ip);
}

}  // namespace

std::size_t packets_in(std::span<const unsigned char> frame, unsigned mtu) {
  if (frame.size() < sizeof(FrameHeader) + kEthernetHeader) return 0;
  const auto header = header_at<FrameHeader>(frame, 0);
  const std::size_t size = frame.size() - sizeof header;
  if (header.segmentation == 0) return size <= kEthernetHeader + kVlanTag + mtu ? 1 : 0;
  const Headers headers(frame);
  if (header.segment_size == 0 || frame.size() <= headers.data_at) return 0;
  return (frame.size() - headers.data_at + header.segment_size - 1) / header.segment_size;
}

Frame part_of(const Frame& frame, std::size_t first, std::size_t last) {
  if (header_at<FrameHeader>(frame, 0).segmentation == 0) return frame;
  Headers headers(frame);
  const std::size_t segment = headers.virtual_header.segment_size;
  const std::size_t begin = headers.data_at + first * segment;
  const std::size_t end = std::min(frame.size(), headers.data_at + last * segment);
  Frame part(headers.data_at + end - begin);
  std::copy_n(frame.begin(), headers.data_at, part.begin());
  std::copy(frame.begin() + static_cast<std::ptrdiff_t>(begin),
            frame.begin() + static_cast<std::ptrdiff_t>(end),
            part.begin() + static_cast<std::ptrdiff_t>(headers.data_at));
  if (last == first + 1) {
    headers.virtual_header.segmentation = 0;
    headers.virtual_header.segment_size = 0;
  }
  std::memcpy(part.data(), &headers.virtual_header, sizeof headers.virtual_header);
  correct_ip(part.data() + headers.ip_at, headers.tcp4, part.size() - headers.ip_at, first);

  auto tcp = header_at<tcphdr>(part, headers.tcp_at);
  tcp.seq = htonl(static_cast<std::uint32_t>(ntohl(tcp.seq) + first * segment));
  if (end < frame.size()) tcp.fin = tcp.psh = 0;
  // The receiver's kernel completes the checksum, which so far is the sum of the pseudo-header. That contains
  // the packet's size.
  const auto size_before = static_cast<std::uint16_t>(frame.size() - headers.tcp_at);
  const auto size_now = static_cast<std::uint16_t>(part.size() - headers.tcp_at);
  tcp.check =
      folded(std::uint32_t{tcp.check} + htons(size_now) + static_cast<std::uint16_t>(~htons(size_before)));
  std::memcpy(part.data() + headers.tcp_at, &tcp, sizeof tcp);
  // Only the first packet says that the sender has slowed down (RFC 3168).
  if (first > 0) part[headers.tcp_at + 13] &= static_cast<unsigned char>(~kTcpCwr);
  return part;
}

}  // namespace clique::test
