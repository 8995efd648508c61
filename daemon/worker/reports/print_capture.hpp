#pragma once

#include <cstdint>

#include "protocol/fd.hpp"
#include "protocol/payload.hpp"

namespace clique::daemon {

/// Captures what kernels print: replaces the process's standard output by a file in memory, and hands out
/// what was added. take() is for one thread at a time; any thread may print.
class PrintCapture {
 public:
  /// Throws std::system_error.
  PrintCapture();

  /// The text that was printed since the last call, up to 4 MiB of it.
  protocol::Bytes take();

 private:
  Fd file_;
  std::uint64_t taken_ = 0;
};

}  // namespace clique::daemon
