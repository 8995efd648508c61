// A layer (OPENCL_LAYERS) that counts calls and passes them on.
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <atomic>
#include <map>
#include <string_view>

namespace {

cl_icd_dispatch layer{};
const cl_icd_dispatch* target = nullptr;

template <auto function>
struct Counted;

template <typename Result, typename... Arguments, Result (*cl_icd_dispatch::*function)(Arguments...)>
struct Counted<function> {
  static inline std::atomic<int> calls{0};
  static Result call(Arguments... arguments) {
    ++calls;
    return (target->*function)(arguments...);
  }
};

std::map<std::string_view, const std::atomic<int>*> counts;

template <auto function>
void count(std::string_view name) {
  layer.*function = Counted<function>::call;
  counts[name] = &Counted<function>::calls;
}

}  // namespace

extern "C" {

int calls_of(const char* function) {
  const auto found = counts.find(function);
  return found == counts.end() ? -1 : found->second->load();
}

cl_int clGetLayerInfo(cl_layer_info name, size_t size, void* value, size_t* size_ret) {
  if (name != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
  if (value != nullptr) {
    if (size < sizeof(cl_layer_api_version)) return CL_INVALID_VALUE;
    *static_cast<cl_layer_api_version*>(value) = CL_LAYER_API_VERSION_100;
  }
  if (size_ret != nullptr) *size_ret = sizeof(cl_layer_api_version);
  return CL_SUCCESS;
}

// Debian's loader has one function fewer than cl_icd.h; all functions that are counted exist in any loader.
cl_int clInitLayer(cl_uint entries, const cl_icd_dispatch* below, cl_uint* own_entries,
                   const cl_icd_dispatch** own) {
  target = below;
  count<&cl_icd_dispatch::clGetPlatformIDs>("clGetPlatformIDs");
  count<&cl_icd_dispatch::clCreateContext>("clCreateContext");
  count<&cl_icd_dispatch::clCreateBuffer>("clCreateBuffer");
  count<&cl_icd_dispatch::clReleaseMemObject>("clReleaseMemObject");
  count<&cl_icd_dispatch::clCreateBufferWithProperties>("clCreateBufferWithProperties");
  count<&cl_icd_dispatch::clEnqueueNDRangeKernel>("clEnqueueNDRangeKernel");
  count<&cl_icd_dispatch::clEnqueueReadBuffer>("clEnqueueReadBuffer");
  count<&cl_icd_dispatch::clSetEventCallback>("clSetEventCallback");
  *own_entries = entries;
  *own = &layer;
  return CL_SUCCESS;
}

// Newer loaders call this function instead.
cl_int clInitLayerWithProperties(cl_uint entries, const cl_icd_dispatch* below, cl_uint* own_entries,
                                 const cl_icd_dispatch** own, const void* /*properties*/) {
  return clInitLayer(entries, below, own_entries, own);
}
}
