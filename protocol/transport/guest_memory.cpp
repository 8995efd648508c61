#include "protocol/transport/guest_memory.hpp"

#include <cstring>

#include "protocol/random.hpp"

namespace clique::protocol {

namespace {

/// "clqguest" and, implicitly, the version of what follows.
constexpr std::uint64_t kGuestMemoryMagic = 0x7473'6575'6771'6c63;

struct Head {
  std::uint64_t magic;
  GuestMemoryId id;
};

}  // namespace

GuestMemoryId write_guest_memory_head(const SharedSegment& head) {
  Head written{kGuestMemoryMagic, {}};
  fill_random(written.id);
  std::memcpy(head.bytes().data(), &written, sizeof written);
  return written.id;
}

std::optional<GuestMemoryId> read_guest_memory_head(const SharedSegment& head) {
  Head read{};
  std::memcpy(&read, head.bytes().data(), sizeof read);
  if (read.magic != kGuestMemoryMagic) return std::nullopt;
  return read.id;
}

}  // namespace clique::protocol
