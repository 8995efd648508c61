// An interposer (LD_PRELOAD) that counts calls and passes them on. In a node's workers it makes the driver
// behave as Oclgrind 21.10 does with errors of contexts: it passes the callback's data in the wrong argument.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdlib>
#include <string_view>

namespace {

std::atomic<int> buffers{0};
std::atomic<int> contexts{0};

template <typename Function>
Function* next(Function& /*replaced*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool in_worker() {
  return std::getenv("CLIQUE_WORKER") != nullptr;
}

}  // namespace

extern "C" {

int calls_of(const char* function) {
  if (function == std::string_view("clCreateBuffer")) return buffers;
  if (function == std::string_view("clCreateContext")) return contexts;
  return -1;
}

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void* host, cl_int* status) {
  ++buffers;
  return next(clCreateBuffer, "clCreateBuffer")(context, flags, size, host, status);
}

cl_context clCreateContext(const cl_context_properties* properties, cl_uint count,
                           const cl_device_id* devices,
                           void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data,
                           cl_int* status) {
  ++contexts;
  const auto context =
      next(clCreateContext, "clCreateContext")(properties, count, devices, notify, data, status);
  if (in_worker() && context != nullptr && notify != nullptr) notify("no data", data, 0, nullptr);
  return context;
}
}
