// Errors in the application's memory.
#pragma once

#include <cstddef>
#include <span>

namespace clique::protocol {

/// The system reports memory that is gone as an error (EFAULT). Makes this thread fault instead, as any other
/// access to the application's memory does: the application has broken a rule, and no other connection can
/// help.
inline void touch(std::span<const std::byte> bytes) {
  constexpr std::size_t kPage = 4096;
  for (std::size_t at = 0; at < bytes.size(); at += kPage) {
    [[maybe_unused]] const std::byte read = *static_cast<const volatile std::byte*>(bytes.data() + at);
  }
}
/// The same for memory that is written.
inline void touch(std::span<std::byte> bytes) {
  constexpr std::size_t kPage = 4096;
  for (std::size_t at = 0; at < bytes.size(); at += kPage) {
    volatile std::byte* const byte = bytes.data() + at;
    *byte = *byte;
  }
}

}  // namespace clique::protocol
