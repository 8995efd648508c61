#include "enqueued.hpp"

#include <dlfcn.h>

#include "../opencl.hpp"

namespace bench::kernels {

namespace {

/// The events of the kernels that were enqueued during kernel_nanoseconds(); null otherwise.
std::vector<cl::Event>* enqueued = nullptr;

}  // namespace

double kernel_nanoseconds(const std::function<void()>& work) {
  std::vector<cl::Event> events;
  enqueued = &events;
  try {
    work();
  } catch (...) {
    enqueued = nullptr;
    throw;
  }
  enqueued = nullptr;
  double sum = 0;
  for (const cl::Event& event : events) {
    event.wait();
    sum += static_cast<double>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>() -
                               event.getProfilingInfo<CL_PROFILING_COMMAND_START>());
  }
  return sum;
}

}  // namespace bench::kernels

// Replaces the loader's function of this name for everything in the process.
extern "C" __attribute__((visibility("default"))) cl_int CL_API_CALL clEnqueueNDRangeKernel(
    cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset, const size_t* global,
    const size_t* local, cl_uint waited, const cl_event* wait_list, cl_event* event) {
  static const auto loaders =
      reinterpret_cast<decltype(&clEnqueueNDRangeKernel)>(dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel"));
  if (bench::kernels::enqueued == nullptr)
    return loaders(queue, kernel, dimensions, offset, global, local, waited, wait_list, event);
  cl_event made = nullptr;
  const cl_int status = loaders(queue, kernel, dimensions, offset, global, local, waited, wait_list, &made);
  if (status != CL_SUCCESS) return status;
  if (event != nullptr) {
    clRetainEvent(made);
    *event = made;
  }
  bench::kernels::enqueued->emplace_back(made);
  return status;
}
