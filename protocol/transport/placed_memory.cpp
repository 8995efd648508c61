#include "protocol/transport/placed_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "protocol/throw_errno.hpp"

namespace clique::protocol {

std::span<const PlacedMemory::Window> PlacedMemory::windows() {
  static constexpr Window kWindows[] = {
#ifndef CLIQUE_SANITIZE_THREAD
      // Above the address sanitizer's shadow, and below the mappings of programs whose stack is unlimited.
      {0x1100'0000'0000, 0x2a00'0000'0000},
#endif
      // For systems with addresses of 39 bits. Also the only range that the thread sanitizer allows: it
      // ends a program that maps any other address.
      {0x10'0000'0000, 0x80'0000'0000},
  };
  return kWindows;
}

std::size_t PlacedMemory::page_size() {
  return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

namespace {

bool is_in_window(std::uint64_t address, std::size_t size) {
  const auto windows = PlacedMemory::windows();
  return std::any_of(windows.begin(), windows.end(), [&](const PlacedMemory::Window& window) {
    return address >= window.begin && address <= window.end && size <= window.end - address;
  });
}

/// @returns the address; null if it is not in a window, if something is mapped there already, or if the
/// system has no memory.
void* map_at(std::uint64_t address, std::size_t size, int protection) {
  if (!is_in_window(address, size)) {
    errno = EINVAL;
    return nullptr;
  }
  // Messages contain the address as a number: NOLINTNEXTLINE(performance-no-int-to-ptr)
  auto* const wanted = reinterpret_cast<void*>(address);
  void* const got = ::mmap(wanted, size, protection,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == MAP_FAILED) return nullptr;
  if (got != wanted) {  // older systems treat the address as a hint
    ::munmap(got, size);
    errno = EEXIST;
    return nullptr;
  }
  return got;
}

}  // namespace

std::unique_ptr<PlacedMemory> PlacedMemory::at(std::uint64_t address, std::size_t size) {
  void* const got = map_at(address, size, PROT_READ | PROT_WRITE);
  if (got == nullptr) return nullptr;
  return std::unique_ptr<PlacedMemory>(new PlacedMemory({static_cast<std::byte*>(got), size}));
}

std::unique_ptr<PlacedMemory> PlacedMemory::at(std::uint64_t address, std::span<std::byte> shared) {
  // mremap() replaces what is mapped at the new address, so that it has to be free, and stay so.
  void* const reserved = map_at(address, shared.size(), PROT_NONE);
  if (reserved == nullptr) return nullptr;
  // With the old size 0, it leaves the old mapping in place.
  if (::mremap(shared.data(), 0, shared.size(), MREMAP_MAYMOVE | MREMAP_FIXED, reserved) == MAP_FAILED) {
    const int cause = errno;
    ::munmap(reserved, shared.size());
    errno = cause;
    return nullptr;
  }
  return std::unique_ptr<PlacedMemory>(new PlacedMemory({static_cast<std::byte*>(reserved), shared.size()}));
}

void PlacedMemory::forbid_access() const {
  if (::mprotect(bytes_.data(), bytes_.size(), PROT_NONE) != 0) throw_errno("mprotect");
}

PlacedMemory::~PlacedMemory() {
  ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace clique::protocol
