#include "protocol/streams/copy_past_caches.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace clique::protocol {

void copy_past_caches(std::byte* to, std::span<const std::byte> from) {
#if defined(__SSE2__)
  constexpr std::size_t kLine = 64;
  constexpr std::size_t kWord = sizeof(__m128i);
  const std::size_t misplaced = reinterpret_cast<std::uintptr_t>(to) % kLine;
  const std::size_t front = std::min(misplaced == 0 ? 0 : kLine - misplaced, from.size());
  if (front > 0) std::memcpy(to, from.data(), front);
  to += front;
  from = from.subspan(front);
  for (; from.size() >= kLine; to += kLine, from = from.subspan(kLine)) {
    const auto* const source = reinterpret_cast<const __m128i*>(from.data());
    auto* const line = reinterpret_cast<__m128i*>(to);
    for (std::size_t i = 0; i < kLine / kWord; ++i) _mm_stream_si128(line + i, _mm_loadu_si128(source + i));
  }
  // Such stores are not ordered with those that tell other threads of the bytes.
  _mm_sfence();
#endif
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

}  // namespace clique::protocol
