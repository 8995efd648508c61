// Calling CUDA's driver directly, to measure the limits for OpenCL on an NVIDIA GPU.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "bench.hpp"

namespace bench {

/// The name of a function of CUDA's driver, for use as a template parameter.
template <size_t size>
struct Symbol {
  char name[size];
  // NOLINTNEXTLINE(google-explicit-constructor): literals convert to it
  constexpr Symbol(const char (&literal)[size]) { std::copy_n(literal, size, name); }
};

/// Calls a function of the driver. Opens the driver at run time, so that this can be built without one.
/// @throws std::runtime_error if the call fails or the driver has no such function
template <Symbol symbol, typename... Parameters>
void call(Parameters... parameters) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) throw std::runtime_error(std::string("cannot open CUDA's driver: ") + dlerror());
  static const auto function = reinterpret_cast<CUresult (*)(Parameters...)>(dlsym(driver, symbol.name));
  const CUresult result = function != nullptr ? function(parameters...) : CUDA_ERROR_NOT_FOUND;
  if (result != CUDA_SUCCESS)
    throw std::runtime_error(std::string(symbol.name) + " failed with error " + std::to_string(result));
}

/// One of this host's GPUs: its context, which becomes current in the calling thread, and a piece of its
/// memory. Both exist until the process ends.
struct Gpu {
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;

  Gpu(int number, size_t size) {
    CUdevice device = 0;
    call<"cuDeviceGet">(&device, number);
    call<"cuDevicePrimaryCtxRetain">(&context, device);
    call<"cuCtxSetCurrent">(context);
    call<"cuMemAlloc_v2">(&memory, size);
  }
};

}  // namespace bench
