#include "daemon/backend/cuda/execution/launches.hpp"

#include <algorithm>
#include <atomic>
#include <tuple>
#include <vector>

namespace clique::daemon::cuda {

namespace {

/// To prepare a launch takes the time of some ten, so what comes a few times only is not.
constexpr unsigned kLaunchesBefore = 8;
/// Each takes memory of the GPU's and the host's; the rest of a session with so many kernels is launched one
/// by one.
constexpr std::size_t kMostPrepared = 1024;
std::atomic<std::size_t> prepared_now = 0;

/// The parameters of a kernel's node, and what they point to.
struct NodeParameters {
  NodeParameters(CUfunction function, const Grid& grid, std::uint32_t local_memory,
                 std::span<std::uint8_t> block)
      : size(block.size()),
        extra{CU_LAUNCH_PARAM_BUFFER_POINTER, block.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
              CU_LAUNCH_PARAM_END} {
    native.func = function;
    std::tie(native.gridDimX, native.gridDimY, native.gridDimZ) =
        std::tie(grid.groups[0], grid.groups[1], grid.groups[2]);
    std::tie(native.blockDimX, native.blockDimY, native.blockDimZ) =
        std::tie(grid.items[0], grid.items[1], grid.items[2]);
    native.sharedMemBytes = local_memory;
    if (!block.empty()) native.extra = extra;
  }
  NodeParameters(const NodeParameters&) = delete;
  NodeParameters& operator=(const NodeParameters&) = delete;

  std::size_t size;
  void* extra[5];
  CUDA_KERNEL_NODE_PARAMS native{};
};

}  // namespace

/// A graph of one launch, which remembers what the launch was.
class Launches::Prepared {
 public:
  Prepared(CUfunction function, const Grid& grid, std::uint32_t local_memory, std::span<std::uint8_t> block)
      : function_(function), grid_(grid), local_memory_(local_memory), block_(block.begin(), block.end()) {
    ++prepared_now;
    const NodeParameters parameters(function, grid, local_memory, block);
    usable_ = driver().GraphCreate(&graph_, 0) == CUDA_SUCCESS &&
              driver().GraphAddKernelNode(&node_, graph_, nullptr, 0, &parameters.native) == CUDA_SUCCESS &&
              driver().GraphInstantiateWithFlags(&native_, graph_, 0) == CUDA_SUCCESS;
  }
  ~Prepared() {
    if (native_ != nullptr) static_cast<void>(driver().GraphExecDestroy(native_));
    if (graph_ != nullptr) static_cast<void>(driver().GraphDestroy(graph_));
    --prepared_now;
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  /// @returns whether it is in the stream; where not, the kernel's own launch tells why
  bool launch(const Grid& grid, std::uint32_t local_memory, std::span<std::uint8_t> block, CUstream stream) {
    usable_ =
        usable_ && set(grid, local_memory, block) && driver().GraphLaunch(native_, stream) == CUDA_SUCCESS;
    return usable_;
  }

 private:
  /// Makes the next launch this one. @returns whether it is
  bool set(const Grid& grid, std::uint32_t local_memory, std::span<std::uint8_t> block) {
    if (grid.groups == grid_.groups && grid.items == grid_.items && local_memory == local_memory_ &&
        std::equal(block.begin(), block.end(), block_.begin(), block_.end()))
      return true;
    const NodeParameters parameters(function_, grid, local_memory, block);
    if (driver().GraphExecKernelNodeSetParams(native_, node_, &parameters.native) != CUDA_SUCCESS)
      return false;
    grid_ = grid;
    local_memory_ = local_memory;
    block_.assign(block.begin(), block.end());
    return true;
  }

  CUgraph graph_ = nullptr;
  CUgraphNode node_ = nullptr;
  CUgraphExec native_ = nullptr;
  /// False once something went wrong. What was launched before may still run, so it stays until the kernel
  /// goes.
  bool usable_ = false;
  const CUfunction function_;
  Grid grid_;
  std::uint32_t local_memory_;
  std::vector<std::uint8_t> block_;
};

Launches::Launches() = default;
Launches::~Launches() = default;

void Launches::launch(CUfunction function, const Grid& grid, std::uint32_t local_memory,
                      std::span<std::uint8_t> block, CUstream stream, bool prepare) {
  if (prepare) {
    InStream& known = streams_[stream];
    if (!known.prepared && ++known.launches > kLaunchesBefore && prepared_now < kMostPrepared)
      known.prepared = std::make_unique<Prepared>(function, grid, local_memory, block);
    if (known.prepared && known.prepared->launch(grid, local_memory, block, stream)) return;
  }
  const NodeParameters parameters(function, grid, local_memory, block);
  const CUDA_KERNEL_NODE_PARAMS& all = parameters.native;
  CLIQUE_CUDA(LaunchKernel(function, all.gridDimX, all.gridDimY, all.gridDimZ, all.blockDimX, all.blockDimY,
                           all.blockDimZ, local_memory, stream, nullptr, all.extra));
}

}  // namespace clique::daemon::cuda
