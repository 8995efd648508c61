#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include "daemon/backend/cuda/execution/nd_range.hpp"
#include "daemon/backend/cuda/gpu/driver.hpp"

namespace clique::daemon::cuda {

/// The launches of one kernel. What comes again and again in a stream is prepared, as a graph of the one
/// kernel: to launch that takes the driver half of the time that the kernel itself takes
/// (bench/results/h200.md).
class Launches {
 public:
  Launches();
  ~Launches();
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;

  /// Puts a launch into the stream.
  /// @param local_memory bytes that the launch adds to the kernel's own
  /// @param block the parameters, as the machine code has them
  /// @param prepare whether that is possible: not where the stream is being captured
  /// Main thread. Throws ClError.
  void launch(CUfunction function, const Grid& grid, std::uint32_t local_memory,
              std::span<std::uint8_t> block, CUstream stream, bool prepare);

 private:
  class Prepared;
  struct InStream {
    unsigned launches = 0;
    std::unique_ptr<Prepared> prepared;
  };

  /// One for each stream, since a graph does not run at the same time as itself.
  std::unordered_map<CUstream, InStream> streams_;
};

}  // namespace clique::daemon::cuda
