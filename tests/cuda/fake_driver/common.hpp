// A libcuda.so.1 that needs no GPU, for tests of everything except what kernels compute. Streams are threads,
// device memory is host memory, and arrays are linear. Only the kernels that are listed in kernels.cpp
// do something; they are found by their names. Copies outside of allocated memory and the kernel "fault"
// break the context for the rest of the process, as on a GPU.
#pragma once

#include <cuda.h>

#include <atomic>
#include <chrono>
#include <cstdlib>

// Later versions of cuda.h define these names as those of newer versions; the backend uses the first ones.
#undef cuEventElapsedTime
#undef cuStreamUpdateCaptureDependencies

#define EXPORT extern "C" __attribute__((visibility("default"))) CUresult

namespace fake_cuda {

using Clock = std::chrono::steady_clock;

/// What broke the context; CUDA_SUCCESS: nothing has.
inline std::atomic<CUresult> broken{CUDA_SUCCESS};

/// Whether a test has set this environment variable.
inline bool is_set(const char* variable) {
  return std::getenv(variable) != nullptr;
}

}  // namespace fake_cuda
