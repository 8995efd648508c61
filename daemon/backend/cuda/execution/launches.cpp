#include "daemon/backend/cuda/execution/launches.hpp"

#include <algorithm>
#include <atomic>
#include <tuple>
#include <vector>

namespace clique::daemon::cuda {

namespace {

/// Preparing a launch takes as long as some ten launches, so it is done only for a kernel that has been
/// launched this often in a stream.
constexpr unsigned kLaunchesBefore = 8;
/// Each prepared launch takes memory of the GPU and of the host. Beyond this many, a session's kernels are
/// launched one by one.
constexpr std::size_t kMostPrepared = 1024;
std::atomic<std::size_t> prepared_now = 0;

/// The parameters of a graph's kernel node, and what they point to.
struct NodeParameters {
  explicit NodeParameters(const Launch& launch)
      : size(launch.block.size()),
        extra{CU_LAUNCH_PARAM_BUFFER_POINTER, launch.block.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
              CU_LAUNCH_PARAM_END} {
    const Grid& grid = launch.grid;
    native.func = launch.function;
    std::tie(native.gridDimX, native.gridDimY, native.gridDimZ) =
        std::tie(grid.groups[0], grid.groups[1], grid.groups[2]);
    std::tie(native.blockDimX, native.blockDimY, native.blockDimZ) =
        std::tie(grid.items[0], grid.items[1], grid.items[2]);
    native.sharedMemBytes = launch.local_memory;
    if (!launch.block.empty()) native.extra = extra;
  }
  NodeParameters(const NodeParameters&) = delete;
  NodeParameters& operator=(const NodeParameters&) = delete;

  std::size_t size;
  void* extra[5];
  CUDA_KERNEL_NODE_PARAMS native{};
};

}  // namespace

bool set_node(CUgraphExec graph, CUgraphNode node, const OwnLaunch& launch) {
  std::vector<std::uint8_t> block = launch.block;
  const NodeParameters parameters({launch.function, launch.grid, launch.local_memory, block});
  return driver().GraphExecKernelNodeSetParams(graph, node, &parameters.native) == CUDA_SUCCESS;
}

void launch_once(const Launch& launch, CUstream stream) {
  const NodeParameters parameters(launch);
  const CUDA_KERNEL_NODE_PARAMS& all = parameters.native;
  CLIQUE_CUDA(LaunchKernel(launch.function, all.gridDimX, all.gridDimY, all.gridDimZ, all.blockDimX,
                           all.blockDimY, all.blockDimZ, launch.local_memory, stream, nullptr, all.extra));
}

/// A graph of one launch, and what the launch was last.
class Launches::Prepared {
 public:
  explicit Prepared(const Launch& launch)
      : grid_(launch.grid),
        local_memory_(launch.local_memory),
        block_(launch.block.begin(), launch.block.end()) {
    ++prepared_now;
    const NodeParameters parameters(launch);
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

  /// @returns whether the launch is in the stream. If not, launching the kernel itself gives the reason.
  bool launch(const Launch& launch, CUstream stream) {
    usable_ = usable_ && set(launch) && driver().GraphLaunch(native_, stream) == CUDA_SUCCESS;
    return usable_;
  }

 private:
  /// Makes the graph do this launch. @returns whether it does
  bool set(const Launch& launch) {
    if (launch.grid.groups == grid_.groups && launch.grid.items == grid_.items &&
        launch.local_memory == local_memory_ &&
        std::equal(launch.block.begin(), launch.block.end(), block_.begin(), block_.end()))
      return true;
    const NodeParameters parameters(launch);
    if (driver().GraphExecKernelNodeSetParams(native_, node_, &parameters.native) != CUDA_SUCCESS)
      return false;
    grid_ = launch.grid;
    local_memory_ = launch.local_memory;
    block_.assign(launch.block.begin(), launch.block.end());
    return true;
  }

  CUgraph graph_ = nullptr;
  CUgraphNode node_ = nullptr;
  CUgraphExec native_ = nullptr;
  /// False after the first error. The graph is kept until the kernel goes, since an earlier launch of it may
  /// still be running.
  bool usable_ = false;
  Grid grid_;
  std::uint32_t local_memory_;
  std::vector<std::uint8_t> block_;
};

Launches::Launches() = default;
Launches::~Launches() = default;

void Launches::launch(const Launch& launch, CUstream stream) {
  InStream& known = streams_[stream];
  if (!known.prepared && ++known.launches > kLaunchesBefore && prepared_now < kMostPrepared)
    known.prepared = std::make_unique<Prepared>(launch);
  if (known.prepared && known.prepared->launch(launch, stream)) return;
  launch_once(launch, stream);
}

}  // namespace clique::daemon::cuda
