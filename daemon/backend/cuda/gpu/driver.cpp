#include "daemon/backend/cuda/gpu/driver.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace clique::daemon::cuda {

namespace {

Driver the_driver;

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void load() {
  // Never closed: the driver's threads live as long as the process.
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw std::runtime_error(std::string("NVIDIA's driver cannot be opened, and may not be installed: ") +
                             ::dlerror());
  const auto find = [library](const char* symbol) {
    void* address = ::dlsym(library, symbol);
    if (address == nullptr)
      throw std::runtime_error(std::string("NVIDIA's driver is too old: it lacks ") + symbol + "; CUDA " +
                               version_text(kLeastDriver) + " or later is needed");
    return address;
  };
#define CLIQUE_CUDA_LOAD(name, symbol, ...) \
  the_driver.name = reinterpret_cast<decltype(the_driver.name)>(find(#symbol));
  CLIQUE_CUDA_CALLS(CLIQUE_CUDA_LOAD)
#undef CLIQUE_CUDA_LOAD
  const int version = driver_version();
  if (version < kLeastDriver)
    throw std::runtime_error("NVIDIA's driver is too old: it supports CUDA " + version_text(version) +
                             "; CUDA " + version_text(kLeastDriver) + " or later is needed");
  if (const CUresult result = the_driver.Init(0); result != CUDA_SUCCESS)
    throw std::runtime_error(std::string("NVIDIA's driver does not start: ") + name_of(result));
}

}  // namespace

const Driver& open_driver() {
  static const bool once = [] {
    load();
    return true;
  }();
  static_cast<void>(once);
  return the_driver;
}

const Driver& driver() {
  return the_driver;
}

int driver_version() {
  int version = 0;
  the_driver.DriverGetVersion(&version);
  return version;
}

const char* name_of(CUresult result) {
  const char* name = nullptr;
  return the_driver.GetErrorName(result, &name) == CUDA_SUCCESS && name != nullptr ? name
                                                                                   : "an unknown error";
}

cl_int status_of(CUresult result) {
  switch (result) {
    case CUDA_SUCCESS:
      return CL_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
      return CL_MEM_OBJECT_ALLOCATION_FAILURE;
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
      return CL_INVALID_BINARY;
    case CUDA_ERROR_NOT_FOUND:
      return CL_INVALID_KERNEL_NAME;
    default:
      return CL_OUT_OF_RESOURCES;
  }
}

bool is_fatal(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
      return true;
    default:
      return false;
  }
}

}  // namespace clique::daemon::cuda
