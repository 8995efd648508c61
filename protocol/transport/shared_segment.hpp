#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "protocol/fd.hpp"

namespace clique::protocol {

/// Memory that processes of one user on one host map, so that its content reaches the others without a copy.
/// The system frees it when no process maps it any more.
class SharedSegment {
 public:
  /// New memory, all zero. Throws std::system_error.
  static std::shared_ptr<SharedSegment> create(std::size_t size);
  /// Memory that another process created. Throws std::system_error, and DecodeError if it is not such memory
  /// or has another size.
  static std::shared_ptr<SharedSegment> open(Fd memory, std::size_t size);
  /// A part of a file that others map as well, such as a virtual machine. Does not keep the descriptor: this
  /// process reaches no other part afterwards. Throws std::system_error, and DecodeError if the file has no
  /// such part.
  /// @param at a multiple of the page size
  static std::shared_ptr<SharedSegment> part_of(const Fd& file, std::uint64_t at, std::size_t size);
  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  std::span<std::byte> bytes() const { return {data_, size_}; }
  /// The file descriptor that open() takes; -1 of a part of a file.
  int descriptor() const { return memory_.get(); }

 private:
  SharedSegment(Fd memory, std::size_t size);
  SharedSegment(std::byte* data, std::size_t size) : size_(size), data_(data) {}

  const Fd memory_;
  const std::size_t size_;
  std::byte* data_;
};

}  // namespace clique::protocol
