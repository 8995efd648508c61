// CUDA's driver, without Clique or OpenCL: for what these are held against on an NVIDIA GPU.
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "bench.hpp"

namespace bench {

/// The name of a function of CUDA's driver, as a parameter of a template.
template <size_t size>
struct Symbol {
  char name[size];
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is to be one
  constexpr Symbol(const char (&literal)[size]) { std::copy_n(literal, size, name); }
};

/// Calls a function of the driver, which is opened here so that hosts without one can build this.
/// @throws std::runtime_error where it fails
template <Symbol symbol, typename... Parameters>
void call(Parameters... parameters) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) throw std::runtime_error(dlerror());
  static const auto function = reinterpret_cast<CUresult (*)(Parameters...)>(dlsym(driver, symbol.name));
  const CUresult result = function != nullptr ? function(parameters...) : CUDA_ERROR_NOT_FOUND;
  if (result != CUDA_SUCCESS)
    throw std::runtime_error(std::string(symbol.name) + " gave " + std::to_string(result));
}

/// One of this host's GPUs, whose context becomes the thread's, and memory of it. Both last as long as the
/// process.
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
