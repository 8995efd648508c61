#include "daemon/server/processes/backends.hpp"

#include <stdexcept>

#include "daemon/backend/opencl/make_backend.hpp"
#include "daemon/backend/opencl/probe.hpp"
#include "daemon/worker/backend.hpp"
#include "daemon/worker/options.hpp"
#ifdef CLIQUE_HAS_CUDA
#include "daemon/backend/cuda/describe.hpp"
#include "daemon/backend/cuda/gpu/probe.hpp"
#include "daemon/backend/cuda/make_backend.hpp"
#endif

namespace clique::daemon {

namespace {

std::vector<ListedPlatform> list_gpus(NvidiaDriver nvidia) {
#ifdef CLIQUE_HAS_CUDA
  if (nvidia == NvidiaDriver::Cuda) return cuda::list_gpus();
#endif
  static_cast<void>(nvidia);
  return {};
}

}  // namespace

std::unique_ptr<Backend> make_backend(const WorkerOptions& options, const Surroundings& surroundings) {
  if (options.kind == PlatformKind::OpenCl)
    return make_opencl_backend(surroundings, options.platform, options.devices, options.session.node);
#ifdef CLIQUE_HAS_CUDA
  return make_cuda_backend(surroundings, options.platform);
#else
  throw std::runtime_error("this cliqued was built without CUDA");
#endif
}

std::vector<ListedPlatform> list_platforms(NvidiaDriver nvidia) {
  auto platforms = list_gpus(nvidia);
  const auto others = opencl::list_platforms({.nvidia = platforms.empty()});
  platforms.insert(platforms.end(), others.begin(), others.end());
  return platforms;
}

void send_gpus(const ControlChannel& control) {
  const std::vector<ListedPlatform> gpus = list_gpus(NvidiaDriver::Cuda);
  control.send(gpus);
#ifdef CLIQUE_HAS_CUDA
  for (const ListedPlatform& gpu : gpus) control.send(cuda::describe_gpu(gpu.index));
#endif
}

}  // namespace clique::daemon
