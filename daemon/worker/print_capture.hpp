#pragma once

#include <cstdint>

#include "protocol/fd.hpp"
#include "protocol/messages.hpp"

namespace clique::daemon {

/// Catches what kernels print: replaces the process's standard output by a file in memory and hands out what
/// was added. Not thread-safe, except that anybody may print.
class PrintCapture {
 public:
  /// Throws std::system_error.
  PrintCapture();

  /// What was printed since the last call; cheap where that is nothing.
  protocol::Bytes take();

 private:
  Fd file_;
  std::uint64_t taken_ = 0;
};

}  // namespace clique::daemon
