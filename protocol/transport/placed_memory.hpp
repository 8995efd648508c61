#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace clique::protocol {

/// Memory at an address that the caller chooses, for shared virtual memory, which has the same address in the
/// client and its workers: zero-initialised, or that of a SharedSegment.
class PlacedMemory {
 public:
  /// A range of addresses that no process uses for executables, heaps, libraries or stacks.
  struct Window {
    std::uint64_t begin;
    std::uint64_t end;
  };
  /// The first one is preferred.
  static std::span<const Window> windows();

  /// @param address the beginning of a page
  /// @returns null if that is not in a window (errno is EINVAL), if something is mapped there already
  /// (EEXIST), or if the system has no memory.
  static std::unique_ptr<PlacedMemory> at(std::uint64_t address, std::size_t size);
  /// Maps memory a second time, at another address. The first mapping may end earlier. Otherwise as at().
  /// @param shared memory of a SharedSegment, from the beginning of a page on
  static std::unique_ptr<PlacedMemory> at(std::uint64_t address, std::span<std::byte> shared);
  ~PlacedMemory();
  PlacedMemory(const PlacedMemory&) = delete;
  PlacedMemory& operator=(const PlacedMemory&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }
  /// From now on an access of this process to the memory raises SIGSEGV. Throws std::system_error.
  void forbid_access() const;
  static std::size_t page_size();
  /// Bytes: blocks begin at multiples of this, because CUDA reserves requested addresses in such units.
  static constexpr std::size_t kGranule = 32U << 20U;

 private:
  explicit PlacedMemory(std::span<std::byte> bytes) : bytes_(bytes) {}

  const std::span<std::byte> bytes_;
};

}  // namespace clique::protocol
