#include "daemon/backend/cuda/execution/ptx_kernel.hpp"

#include <algorithm>

namespace clique::daemon::cuda {

void PtxKernel::load() {
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CLIQUE_CUDA(ModuleLoadData(&module, ptx_));
  CLIQUE_CUDA(ModuleGetFunction(&kernel, module, name_));
  kernel_.store(kernel, std::memory_order_release);
}

void PtxKernel::launch(std::uint64_t steps, std::span<std::uint8_t> parameters, CUstream stream) {
  if (!loaded()) load();
  Grid grid;
  grid.groups = {static_cast<std::uint32_t>(
                     std::clamp<std::uint64_t>((steps + kThreads - 1) / kThreads, 1, most_groups_)),
                 1, 1};
  grid.items = {kThreads, 1, 1};
  const Launch launch{kernel_, grid, 0, parameters};
  if (capture_.captures(stream))
    launch_once(launch, stream);
  else
    launches_.launch(launch, stream);
}

}  // namespace clique::daemon::cuda
