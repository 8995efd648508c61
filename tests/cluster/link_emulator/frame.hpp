// Ethernet frames as a TAP device delivers them: a frame may stand for many packets of one TCP connection,
// which are alike but for their data (IFF_VNET_HDR, TUN_F_TSO4, TUN_F_TSO6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace clique::test {

/// The header that the device puts before each frame: virtio_net_hdr, whose header file is not valid C++ on
/// all systems.
struct FrameHeader {
  std::uint8_t flags;
  std::uint8_t segmentation;  // 0: the frame is one packet
  std::uint16_t header_size;
  std::uint16_t segment_size;
  std::uint16_t checksum_start;
  std::uint16_t checksum_offset;
};

/// Ethernet's header: two addresses and a type.
constexpr std::size_t kEthernetHeader = 14;
constexpr std::size_t kVlanTag = 4;
/// The headers of a TCP packet that is part of a larger frame: Ethernet's, IP's and TCP's.
constexpr std::size_t kPacketHeaders = kEthernetHeader + 20 + 32;
/// What Ethernet sends in addition to the frame: preamble, checksum and gap.
constexpr std::size_t kAroundPacket = 24;
constexpr std::size_t kLargestFrame = sizeof(FrameHeader) + kPacketHeaders + 64 * 1024;

/// A frame with its FrameHeader.
using Frame = std::vector<unsigned char>;

/// The number of packets that a frame is on a link; 0 if its size is invalid.
/// @param mtu of the link, in bytes
std::size_t packets_in(std::span<const unsigned char> frame, unsigned mtu);

/// The packets from `first` to before `last` of a frame, as a frame of their own. A frame of one packet is
/// returned as it is.
Frame part_of(const Frame& frame, std::size_t first, std::size_t last);

}  // namespace clique::test
