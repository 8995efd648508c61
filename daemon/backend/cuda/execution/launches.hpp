#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "daemon/backend/cuda/execution/nd_range.hpp"
#include "daemon/backend/cuda/gpu/driver.hpp"

namespace clique::daemon::cuda {

/// One launch of a kernel.
struct Launch {
  CUfunction function = nullptr;
  const Grid& grid;
  std::uint32_t local_memory = 0;  ///< bytes that the launch adds to the kernel's own
  std::span<std::uint8_t> block;   ///< the parameters, laid out as the machine code expects them
};

/// A Launch that owns what it refers to.
struct OwnLaunch {
  CUfunction function = nullptr;
  Grid grid;
  std::uint32_t local_memory = 0;
  std::vector<std::uint8_t> block;
};

/// Makes a node of a graph do this launch, from the graph's next launch on. The node was captured of a
/// launch. Main thread. @returns false if the driver refuses
bool set_node(CUgraphExec graph, CUgraphNode node, const OwnLaunch& launch);

/// Puts the launch into the stream. Main thread. Throws ClError.
void launch_once(const Launch& launch, CUstream stream);

/// The launches of one kernel. If a kernel is launched again and again in a stream, its launch is prepared as
/// a CUDA graph of one kernel, which takes the driver half of the time of an ordinary launch
/// (bench/results/h200.md).
class Launches {
 public:
  Launches();
  ~Launches();
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;

  /// Puts the launch into the stream, which must not be capturing: there, use launch_once(). All launches are
  /// of the same function. Main thread. Throws ClError.
  void launch(const Launch& launch, CUstream stream);

 private:
  class Prepared;
  struct InStream {
    unsigned launches = 0;
    std::unique_ptr<Prepared> prepared;
  };

  /// Each stream has its own, since a graph does not run at the same time as itself.
  std::unordered_map<CUstream, InStream> streams_;
};

}  // namespace clique::daemon::cuda
