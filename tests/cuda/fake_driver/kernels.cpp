// Modules, their kernels, and launches.
#include "kernels.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <regex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "daemon/compiler/library/abi.h"
#include "streams.hpp"

using namespace fake_cuda;

struct CUmod_st {
  std::string code;
};
struct CUfunc_st {
  std::string name;
  std::function<void(const fake_cuda::Launch&)> run;
  std::vector<std::pair<std::size_t, std::size_t>> parameters;  ///< offset and size of each
};
struct CUlinkState_st {
  std::string code;
};

namespace {

/// What the device library's function does (daemon/compiler/library/access_checks.cl).
void check_access(clique_access_checks* checks, const void* at, std::uint64_t size, bool writes) {
  if (checks == nullptr) return;
  const auto begin = reinterpret_cast<std::uint64_t>(at);
  const auto* const ranges = reinterpret_cast<const clique_expected_range*>(checks + 1);
  for (unsigned i = 0; i < checks->ranges; ++i)
    if (ranges[i].image == 0 && begin >= ranges[i].begin && begin + size <= ranges[i].end &&
        (!writes || ranges[i].writes != 0))
      return;
  if (checks->found++ != 0) return;
  checks->image = 0;
  checks->begin = begin;
  checks->size = static_cast<clique_u32>(size);
  checks->writes = writes ? 1 : 0;
}

/// The end of a kernel for small reads: sets the flag behind the data, if there is one, and the stream's
/// number.
void tell_read(const Launch& launch) {
  if (auto* const there = launch.parameter<std::uint32_t*>(32); there != nullptr)
    std::atomic_ref(*there).store(1, std::memory_order_release);
  std::atomic_ref(*launch.parameter<std::uint32_t*>(16))
      .store(launch.parameter<std::uint32_t>(28), std::memory_order_release);
}

const std::map<std::string, std::function<void(const Launch&)>> kernels{
    // The backend's kernel for fills: see fill.cpp.
    {"clique_fill",
     [](const Launch& launch) {
       auto* to = reinterpret_cast<unsigned char*>(launch.parameter<CUdeviceptr>(0));
       const auto count = launch.parameter<std::uint64_t>(8);
       for (std::uint64_t i = 0; i < count; ++i)
         std::memcpy(to + i * 8, launch.parameters.data() + 16 + i % 16 * 8, 8);
     }},
    // The backend's kernel for copies within host memory: see host_copies.cpp.
    {"clique_host_copy",
     [](const Launch& launch) {
       std::memmove(launch.parameter<void*>(0), launch.parameter<const void*>(8),
                    launch.parameter<std::size_t>(24));
     }},
    // The backend's kernel for small reads: see small_reads.cpp.
    {"clique_small_read",
     [](const Launch& launch) {
       const auto* const from = launch.parameter<const std::uint32_t*>(8);
       const auto count = launch.parameter<std::uint32_t>(24);
       if (launch.parameter<std::uint64_t>(40) != 0) {
         auto* const to = launch.parameter<std::uint64_t*>(0);
         for (std::size_t i = 0; i < count; ++i)
           std::atomic_ref(to[i]).store(std::uint64_t{1} << 32U | from[i], std::memory_order_release);
       } else {
         std::memcpy(launch.parameter<void*>(0), from, std::size_t{4} * count);
       }
       tell_read(launch);
     }},
    // The same for more bytes, of which each thread copies 16 at once.
    {"clique_wide_read",
     [](const Launch& launch) {
       std::memcpy(launch.parameter<void*>(0), launch.parameter<const void*>(8),
                   std::size_t{16} * launch.parameter<std::uint32_t>(24));
       tell_read(launch);
     }},
    // kernel void increment(global int* numbers): each work-item increments one number.
    {"increment",
     [](const Launch& launch) {
       auto* numbers = reinterpret_cast<int*>(launch.parameter<CUdeviceptr>(0));
       for (std::size_t i = 0; i < launch.all_items(); ++i) ++numbers[i];
     }},
    // kernel void add(global int* numbers, int amount), with the global offset as a hidden argument.
    {"add",
     [](const Launch& launch) {
       auto* numbers = reinterpret_cast<int*>(launch.parameter<CUdeviceptr>(0));
       const auto first = launch.parameters.size() >= 24 ? launch.parameter<std::uint64_t>(16) : 0;
       for (std::size_t i = 0; i < launch.all_items(); ++i) numbers[first + i] += launch.parameter<int>(8);
     }},
    // kernel void neighbours(global const int* from, global int* to, int count), where each work-item stores
    // the sum of its number and the next one, with the global offset and perhaps what it may access as hidden
    // arguments.
    {"neighbours",
     [](const Launch& launch) {
       const auto* const from = reinterpret_cast<const int*>(launch.parameter<CUdeviceptr>(0));
       auto* const to = reinterpret_cast<int*>(launch.parameter<CUdeviceptr>(8));
       const auto count = static_cast<std::size_t>(launch.parameter<int>(16));
       const auto first = launch.parameter<std::uint64_t>(24);
       auto* const checks =
           launch.parameters.size() >= 40 ? launch.parameter<clique_access_checks*>(32) : nullptr;
       for (std::size_t i = first; i < first + launch.all_items(); ++i) {
         check_access(checks, from + i, sizeof *from, false);
         if (i + 1 < count) check_access(checks, from + i + 1, sizeof *from, false);
         check_access(checks, to + i, sizeof *to, true);
         to[i] = from[i] + (i + 1 < count ? from[i + 1] : 0);
       }
     }},
    // kernel void wait(int milliseconds).
    {"wait",
     [](const Launch& launch) {
       std::this_thread::sleep_for(std::chrono::milliseconds(launch.parameter<int>(0)));
     }},
    // __global__ void dynamic(unsigned* size): stores how many bytes of dynamic shared memory the launch has.
    {"dynamic",
     [](const Launch& launch) {
       *reinterpret_cast<unsigned*>(launch.parameter<CUdeviceptr>(0)) = launch.shared;
     }},
    {"fault", [](const Launch&) { broken = CUDA_ERROR_ILLEGAL_ADDRESS; }},
};

/// Offsets and sizes of an entry's parameters as PTX declares them:
/// `.param .u64 name` or `.param .align 16 .b8 name[16]`. Attributes of pointers may be in between.
std::vector<std::pair<std::size_t, std::size_t>> parameters_of(const std::string& code,
                                                               const std::string& entry) {
  const std::size_t begin = code.find(".entry " + entry + "(");
  if (begin == std::string::npos) return {};
  const std::string list = code.substr(begin, code.find(')', begin) - begin);
  static const std::regex declaration(
      R"(\.param\s+(?:\.align\s+(\d+)\s+)?\.[a-z](\d+)[^,\[]*(?:\[(\d+)\])?)");
  std::vector<std::pair<std::size_t, std::size_t>> result;
  std::size_t end = 0;
  for (std::sregex_iterator match(list.begin(), list.end(), declaration), last; match != last; ++match) {
    const std::size_t element = std::stoul((*match)[2]) / 8;
    const std::size_t alignment = (*match)[1].matched ? std::stoul((*match)[1]) : element;
    const std::size_t size = (*match)[3].matched ? std::stoul((*match)[3]) * element : element;
    const std::size_t offset = (end + alignment - 1) / alignment * alignment;
    result.emplace_back(offset, size);
    end = offset + size;
  }
  return result;
}

}  // namespace

std::function<void()> fake_cuda::work_of(const CUDA_KERNEL_NODE_PARAMS& all) {
  if (all.gridDimX == 0 || all.gridDimY == 0 || all.gridDimZ == 0 ||
      all.blockDimX * all.blockDimY * all.blockDimZ > 1024 || all.gridDimY > 65535 || all.gridDimZ > 65535)
    return nullptr;
  Launch launch{{all.gridDimX, all.gridDimY, all.gridDimZ},
                {all.blockDimX, all.blockDimY, all.blockDimZ},
                all.sharedMemBytes,
                {}};
  if (all.extra != nullptr) {
    if (all.extra[0] != CU_LAUNCH_PARAM_BUFFER_POINTER || all.extra[2] != CU_LAUNCH_PARAM_BUFFER_SIZE)
      return nullptr;
    const auto* block = static_cast<const unsigned char*>(all.extra[1]);
    launch.parameters.assign(block, block + *static_cast<std::size_t*>(all.extra[3]));
  }
  return [run = all.func->run, launch] { run(launch); };
}

EXPORT cuLinkCreate_v2(unsigned /*count*/, CUjit_option* /*options*/, void** /*values*/, CUlinkState* state) {
  *state = new CUlinkState_st;
  return CUDA_SUCCESS;
}
EXPORT cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, std::size_t size,
                        const char* /*name*/, unsigned /*count*/, CUjit_option* /*options*/,
                        void** /*values*/) {
  if (type != CU_JIT_INPUT_PTX || size == 0 || static_cast<char*>(data)[size - 1] != '\0')
    return CUDA_ERROR_INVALID_VALUE;
  state->code.assign(static_cast<char*>(data), size);
  return state->code.find(".target") == std::string::npos ? CUDA_ERROR_INVALID_PTX : CUDA_SUCCESS;
}
EXPORT cuLinkComplete(CUlinkState state, void** code, std::size_t* size) {
  *code = state->code.data();
  *size = state->code.size();
  return CUDA_SUCCESS;
}
EXPORT cuLinkDestroy(CUlinkState state) {
  delete state;
  return CUDA_SUCCESS;
}
EXPORT cuModuleLoadData(CUmodule* module, const void* code) {
  *module = new CUmod_st{static_cast<const char*>(code)};
  return CUDA_SUCCESS;
}
EXPORT cuModuleUnload(CUmodule module) {
  delete module;
  return CUDA_SUCCESS;
}
EXPORT cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  if (module->code.find(std::string(".entry ") + name) == std::string::npos) return CUDA_ERROR_NOT_FOUND;
  const auto known = kernels.find(name);
  *function = new CUfunc_st{name, known != kernels.end() ? known->second : [](const Launch&) {},
                            parameters_of(module->code, name)};
  return CUDA_SUCCESS;
}
EXPORT cuFuncGetAttribute(int* value, CUfunction_attribute name, CUfunction /*function*/) {
  switch (name) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = 49152;
      break;
    default:
      *value = 0;
  }
  return CUDA_SUCCESS;
}
EXPORT cuFuncGetParamInfo(CUfunction function, std::size_t index, std::size_t* offset, std::size_t* size) {
  if (index >= function->parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  std::tie(*offset, *size) = function->parameters[index];
  return CUDA_SUCCESS;
}
EXPORT cuFuncSetAttribute(CUfunction /*function*/, CUfunction_attribute /*name*/, int /*value*/) {
  return CUDA_SUCCESS;
}

EXPORT cuLaunchKernel(CUfunction function, unsigned x, unsigned y, unsigned z, unsigned items_x,
                      unsigned items_y, unsigned items_z, unsigned shared, CUstream stream,
                      void** /*parameters*/, void** extra) {
  CUDA_KERNEL_NODE_PARAMS all{};
  all.func = function;
  all.gridDimX = x;
  all.gridDimY = y;
  all.gridDimZ = z;
  all.blockDimX = items_x;
  all.blockDimY = items_y;
  all.blockDimZ = items_z;
  all.sharedMemBytes = shared;
  all.extra = extra;
  auto work = work_of(all);
  return work ? stream->put(std::move(work)) : CUDA_ERROR_INVALID_VALUE;
}
