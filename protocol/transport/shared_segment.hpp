#pragma once

#include <cstddef>
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
  ~SharedSegment();
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;

  std::span<std::byte> bytes() const { return {data_, size_}; }
  /// The file descriptor that open() takes.
  int descriptor() const { return memory_.get(); }

 private:
  SharedSegment(Fd memory, std::size_t size);

  const Fd memory_;
  const std::size_t size_;
  std::byte* data_;
};

}  // namespace clique::protocol
