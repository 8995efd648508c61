#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace clique::protocol {

/// Memory at an address of the caller's choice, all zero at first; for shared virtual memory, which has one
/// address in the client and its workers.
class PlacedMemory {
 public:
  /// A range of addresses that are nobody's: executables, heaps, libraries and stacks are elsewhere, in
  /// clients and workers alike.
  struct Window {
    std::uint64_t begin;
    std::uint64_t end;
  };
  /// The first is to be preferred.
  static std::span<const Window> windows();

  /// Null where something is there already, which errno calls EEXIST, or the system gives none.
  /// @param address the beginning of a page.
  static std::unique_ptr<PlacedMemory> at(std::uint64_t address, std::size_t size);
  ~PlacedMemory();
  PlacedMemory(const PlacedMemory&) = delete;
  PlacedMemory& operator=(const PlacedMemory&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }
  static std::size_t page_size();
  /// Nothing else begins between two multiples of this: in such pieces CUDA gives out addresses that are
  /// asked for.
  static constexpr std::size_t kGranule = 32U << 20U;

 private:
  explicit PlacedMemory(std::span<std::byte> bytes) : bytes_(bytes) {}

  const std::span<std::byte> bytes_;
};

}  // namespace clique::protocol
