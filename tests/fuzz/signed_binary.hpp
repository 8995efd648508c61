// Program binaries whose header fits whatever follows it, so that inputs get beyond the checksum.
#pragma once

#include <xxhash.h>

#include "protocol/payload.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz {

/// Makes the size and the checksum in the header fit the content.
inline void sign(protocol::Bytes& binary) {
  constexpr std::size_t kSizeAt = 16;
  constexpr std::size_t kHeader = 32;
  if (binary.size() < kHeader) return;
  const std::uint64_t size = binary.size() - kHeader;
  const std::uint64_t checksum = XXH3_64bits(binary.data() + kHeader, size);
  std::memcpy(binary.data() + kSizeAt, &size, sizeof size);
  std::memcpy(binary.data() + kSizeAt + sizeof size, &checksum, sizeof checksum);
}

}  // namespace clique::fuzz
