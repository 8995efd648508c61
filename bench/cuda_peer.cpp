// What data from one GPU of this host to another is held against: CUDA's own copies between two GPUs, within
// one process.
#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <stdexcept>

#include "bench.hpp"

namespace {

using namespace bench;

struct PeerOptions : Options {
  std::vector<size_t> sizes{4 * kib, mib, 16 * mib, 64 * mib, 256 * mib};
};

/// A call of the driver, which is opened here so that hosts without one can build this.
template <typename... Parameters>
void call(const char* symbol, Parameters... parameters) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) throw std::runtime_error(dlerror());
  const auto function = reinterpret_cast<CUresult (*)(Parameters...)>(dlsym(driver, symbol));
  const CUresult result = function != nullptr ? function(parameters...) : CUDA_ERROR_NOT_FOUND;
  if (result != CUDA_SUCCESS)
    throw std::runtime_error(std::string(symbol) + " gave " + std::to_string(result));
}

struct Gpu {
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;

  Gpu(int number, size_t size) {
    CUdevice device = 0;
    call("cuDeviceGet", &device, number);
    call("cuDevicePrimaryCtxRetain", &context, device);
    call("cuCtxSetCurrent", context);
    call("cuMemAlloc_v2", &memory, size);
  }
};

void measure(const PeerOptions& options) {
  call("cuInit", 0U);
  const size_t most = *std::max_element(options.sizes.begin(), options.sizes.end());
  const std::array<Gpu, 2> gpus{Gpu(0, most), Gpu(1, most)};
  for (size_t i = 0; i < gpus.size(); ++i) {
    call("cuCtxSetCurrent", gpus[i].context);
    call("cuCtxEnablePeerAccess", gpus[1 - i].context, 0U);
  }
  for (const size_t size : options.sizes) {
    const double time = median(options.repeats, [&] {
      return seconds([&] {
        call("cuMemcpyPeer", gpus[0].memory, gpus[0].context, gpus[1].memory, gpus[1].context, size);
        call("cuCtxSynchronize");
      });
    });
    report("cuMemcpyPeer " + size_name(size), 1e6 * time, "us");
    report("cuMemcpyPeer " + size_name(size), static_cast<double>(size) / time / 1e9, "GB/s");
  }
}

}  // namespace

int main(int argc, char** argv) {
  PeerOptions options;
  return run(
      argc, argv, "CUDA's own copies between two GPUs of this host", options,
      [&](CLI::App& app) { add_sizes(app, options.sizes); }, [&] { measure(options); });
}
