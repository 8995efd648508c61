// The fixture of the tests for GPUs: capabilities of the device, and one-dimensional kernel launches.
#pragma once

#include <sstream>

#include "api/helpers.hpp"

namespace clique::test {

class GpuTest : public ApiTest {
 protected:
  bool has_extension(const std::string& name) {
    std::istringstream words(info<std::string>(clGetDeviceInfo, device, CL_DEVICE_EXTENSIONS));
    for (std::string word; words >> word;)
      if (word == name) return true;
    return false;
  }
  /// Whether the device supports -cl-std=CL3.0.
  bool has_opencl_c_3() {
    for (const cl_name_version& each :
         info<std::vector<cl_name_version>>(clGetDeviceInfo, device, CL_DEVICE_OPENCL_C_ALL_VERSIONS))
      if (CL_VERSION_MAJOR(each.version) >= 3) return true;
    return false;
  }
  /// Enqueues a kernel. With a `local` of 0 the driver chooses the work-group size.
  cl_int launch(cl_kernel kernel, size_t global, size_t local = 0, const size_t* offset = nullptr) {
    return clEnqueueNDRangeKernel(queue, kernel, 1, offset, &global, local != 0 ? &local : nullptr, 0,
                                  nullptr, nullptr);
  }
};

}  // namespace clique::test
