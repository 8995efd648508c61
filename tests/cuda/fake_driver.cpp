// A libcuda.so.1 that needs no GPU, for tests of everything except what kernels compute. Streams are threads,
// device memory is host memory, and arrays are linear. Only the kernels that are listed below do something;
// they are found by their names. Copies outside of allocated memory and the kernel "fault" break the context
// for the rest of the process, as on a GPU.
#include <cuda.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

// Later versions of cuda.h define these names as those of newer versions; the backend uses the first ones.
#undef cuEventElapsedTime
#undef cuStreamUpdateCaptureDependencies

#define EXPORT extern "C" __attribute__((visibility("default"))) CUresult

namespace {

std::atomic<CUresult> broken{CUDA_SUCCESS};

using Clock = std::chrono::steady_clock;

struct Launch {
  std::array<unsigned, 3> groups, items;
  unsigned shared;
  std::vector<unsigned char> parameters;

  template <typename T>
  T parameter(std::size_t offset) const {
    T value{};
    std::memcpy(&value, parameters.data() + offset, sizeof value);
    return value;
  }
  std::size_t all_items() const {
    return std::size_t{groups[0]} * groups[1] * groups[2] * items[0] * items[1] * items[2];
  }
};

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
       if (launch.parameter<std::uint64_t>(32) != 0) {
         auto* const to = launch.parameter<std::uint64_t*>(0);
         for (std::size_t i = 0; i < count; ++i)
           std::atomic_ref(to[i]).store(std::uint64_t{1} << 32U | from[i], std::memory_order_release);
       } else {
         std::memcpy(launch.parameter<void*>(0), from, std::size_t{4} * count);
       }
       std::atomic_ref(*launch.parameter<std::uint32_t*>(16))
           .store(launch.parameter<std::uint32_t>(28), std::memory_order_release);
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
    // the sum of its number and the next one, with the global offset as a hidden argument.
    {"neighbours",
     [](const Launch& launch) {
       const auto* const from = reinterpret_cast<const int*>(launch.parameter<CUdeviceptr>(0));
       auto* const to = reinterpret_cast<int*>(launch.parameter<CUdeviceptr>(8));
       const auto count = static_cast<std::size_t>(launch.parameter<int>(16));
       const auto first = launch.parameter<std::uint64_t>(24);
       for (std::size_t i = first; i < first + launch.all_items(); ++i)
         to[i] = from[i] + (i + 1 < count ? from[i + 1] : 0);
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

class Memory {
 public:
  CUdeviceptr take(std::size_t size) {
    return add({std::aligned_alloc(512, (size + 511) / 512 * 512), size, -1});
  }
  /// Allocates memory that other processes can open through /proc.
  CUdeviceptr take_file(std::size_t size) {
    const int file = ::memfd_create("fake GPU memory", 0);
    if (::ftruncate(file, static_cast<off_t>(size)) != 0) return 0;
    return add_file(file, size);
  }
  CUdeviceptr add_file(int file, std::size_t size) {
    void* block = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return block != MAP_FAILED ? add({block, size, file}) : 0;
  }
  void give_back(CUdeviceptr address) {
    Block block;
    {
      const std::lock_guard lock(mutex_);
      block = blocks_.at(address);
      blocks_.erase(address);
    }
    if (block.file < 0) {
      std::free(block.memory);
    } else {
      ::munmap(block.memory, block.size);
      ::close(block.file);
    }
  }
  /// Adds memory that exists already.
  void add_mapped(CUdeviceptr address, std::size_t size) {
    add({reinterpret_cast<void*>(address), size, -1});
  }
  void add_registered(CUdeviceptr address, std::size_t size) {
    add({reinterpret_cast<void*>(address), size, -1, true});
  }
  /// Whether the address is in host memory that was registered.
  bool is_registered(CUdeviceptr address) {
    const std::lock_guard lock(mutex_);
    const auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return false;
    const Block& block = std::prev(after)->second;
    return block.registered && address - std::prev(after)->first < block.size;
  }
  void forget(CUdeviceptr address) {
    const std::lock_guard lock(mutex_);
    blocks_.erase(address);
  }
  struct Block {
    void* memory = nullptr;
    std::size_t size = 0;
    int file = -1;
    bool registered = false;
  };
  std::optional<Block> find(CUdeviceptr address) {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(address);
    return block != blocks_.end() ? std::optional(block->second) : std::nullopt;
  }
  /// Breaks the context if the range is not in allocated memory. It may be in several blocks without gaps
  /// between them, as in memory that was mapped piece by piece.
  bool owns(CUdeviceptr address, std::size_t size) {
    const std::lock_guard lock(mutex_);
    auto block = blocks_.upper_bound(address);
    CUdeviceptr end = address;
    if (block != blocks_.begin() && std::prev(block)->first + std::prev(block)->second.size >= address)
      for (--block; block != blocks_.end() && block->first <= end && end < address + size; ++block)
        end = std::max(end, block->first + block->second.size);
    const bool inside = end >= address + size;
    if (!inside) broken = CUDA_ERROR_ILLEGAL_ADDRESS;
    return inside;
  }

 private:
  CUdeviceptr add(Block block) {
    const std::lock_guard lock(mutex_);
    const auto address = reinterpret_cast<CUdeviceptr>(block.memory);
    blocks_[address] = block;
    return address;
  }

  std::mutex mutex_;
  std::map<CUdeviceptr, Block> blocks_;
};

/// What a CUipcMemHandle holds, to name memory of this process.
struct SharedName {
  pid_t process;
  int file;
  std::size_t size;
};

// Threads of streams run until the process ends.
Memory& memory = *new Memory;

/// Memory that is mapped at reserved addresses. As on a GPU, it is there from its creation until nothing
/// names it and nothing maps it any more, and its first content is arbitrary.
class Pages {
 public:
  static constexpr std::size_t kGranularity = 2U << 20U;
  static constexpr std::size_t kAll = std::size_t{4} << 30U;

  CUresult create(CUmemGenericAllocationHandle* handle, std::size_t size) {
    const std::lock_guard lock(mutex_);
    if (size == 0 || size % kGranularity != 0) return CUDA_ERROR_INVALID_VALUE;
    if (size > kAll - created_) return CUDA_ERROR_OUT_OF_MEMORY;
    created_ += size;
    *handle = ++last_;
    pieces_[*handle] = {size};
    return CUDA_SUCCESS;
  }
  CUresult release(CUmemGenericAllocationHandle handle) {
    const std::lock_guard lock(mutex_);
    const auto piece = pieces_.find(handle);
    if (piece == pieces_.end() || piece->second.released) return CUDA_ERROR_INVALID_VALUE;
    piece->second.released = true;
    forget_unused(piece);
    return CUDA_SUCCESS;
  }
  CUresult map(CUdeviceptr address, std::size_t size, CUmemGenericAllocationHandle handle) {
    const std::lock_guard lock(mutex_);
    const auto piece = pieces_.find(handle);
    if (piece == pieces_.end() || piece->second.released || piece->second.size != size ||
        address % kGranularity != 0)
      return CUDA_ERROR_INVALID_VALUE;
    const auto after = mappings_.lower_bound(address);
    const bool free =
        (after == mappings_.end() || after->first >= address + size) &&
        (after == mappings_.begin() || std::prev(after)->first + std::prev(after)->second.size <= address);
    if (!free) return CUDA_ERROR_ALREADY_MAPPED;
    ++piece->second.mappings;
    mappings_[address] = {size, handle};
    return CUDA_SUCCESS;
  }
  CUresult set_access(CUdeviceptr address, std::size_t size) {
    const std::lock_guard lock(mutex_);
    const auto mapping = mappings_.find(address);
    if (mapping == mappings_.end() || mapping->second.size != size) return CUDA_ERROR_INVALID_VALUE;
    void* const there = reinterpret_cast<void*>(address);
    if (::mprotect(there, size, PROT_READ | PROT_WRITE) != 0) return CUDA_ERROR_INVALID_VALUE;
    std::memset(there, 0xA5, size);
    memory.add_mapped(address, size);
    return CUDA_SUCCESS;
  }
  CUresult unmap(CUdeviceptr address, std::size_t size) {
    const std::lock_guard lock(mutex_);
    const auto mapping = mappings_.find(address);
    if (mapping == mappings_.end() || mapping->second.size != size) return CUDA_ERROR_INVALID_VALUE;
    memory.forget(address);
    void* const there = reinterpret_cast<void*>(address);
    if (::madvise(there, size, MADV_DONTNEED) != 0 || ::mprotect(there, size, PROT_NONE) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    const auto piece = pieces_.find(mapping->second.handle);
    mappings_.erase(mapping);
    --piece->second.mappings;
    forget_unused(piece);
    return CUDA_SUCCESS;
  }

 private:
  struct Piece {
    std::size_t size = 0;
    unsigned mappings = 0;
    bool released = false;
  };
  struct Mapping {
    std::size_t size;
    CUmemGenericAllocationHandle handle;
  };
  using Pieces = std::map<CUmemGenericAllocationHandle, Piece>;
  void forget_unused(Pieces::iterator piece) {
    if (!piece->second.released || piece->second.mappings != 0) return;
    created_ -= piece->second.size;
    pieces_.erase(piece);
  }

  std::mutex mutex_;
  std::size_t created_ = 0;
  CUmemGenericAllocationHandle last_ = 0;
  Pieces pieces_;
  std::map<CUdeviceptr, Mapping> mappings_;
};
Pages& pages = *new Pages;

/// Bytes of the largest piece of host memory that can be registered.
constexpr std::size_t kMostRegistered = 1U << 30U;

bool is_set(const char* variable) {
  return std::getenv(variable) != nullptr;
}

struct Array {
  std::size_t row, height, depth;
  std::vector<unsigned char> bytes;
};

struct Event {
  std::atomic<bool> done{true};
  Clock::time_point time;
};

/// Tells ThreadSanitizer, at the beginning and the end of each piece of work, that all work on the GPU is
/// ordered. It cannot see the order if another process has arranged it.
void see_earlier_work() {
  static auto& done = *new std::mutex;
  const std::lock_guard lock(done);
}

}  // namespace

struct CUgraphNode_st {
  std::size_t index;  // of its work
};

/// A stream capture that has begun and not ended.
class Capture {
 public:
  void add(std::function<void()> work) {
    nodes_.push_back(std::make_unique<CUgraphNode_st>(CUgraphNode_st{works_.size()}));
    works_.push_back({std::move(work), std::exchange(last_, {nodes_.back().get()})});
  }
  const std::vector<CUgraphNode>& last() const { return last_; }
  /// @returns false if a node is named twice.
  bool come_after(std::vector<CUgraphNode> nodes) {
    std::sort(nodes.begin(), nodes.end());
    if (std::adjacent_find(nodes.begin(), nodes.end()) != nodes.end()) return false;
    last_ = std::move(nodes);
    return true;
  }
  /// The works in an order that the graph allows. If it leaves a choice, the works that were captured last
  /// come first.
  std::vector<std::function<void()>> in_order() {
    std::vector<std::function<void()>> result;
    std::vector<bool> done(works_.size());
    std::vector<std::size_t> places(works_.size());
    while (result.size() < works_.size()) {
      for (std::size_t i = works_.size(); i-- > 0;) {
        const auto& after = works_[i].after;
        if (done[i] ||
            !std::all_of(after.begin(), after.end(), [&](auto* node) { return done[node->index]; }))
          continue;
        done[i] = true;
        places[i] = result.size();
        result.push_back(std::move(works_[i].work));
        break;
      }
    }
    for (std::size_t i = 0; i < places.size(); ++i) nodes_[i]->index = places[i];
    return result;
  }
  /// The nodes, which belong to the graph once in_order() has been called.
  std::vector<std::unique_ptr<CUgraphNode_st>> take_nodes() { return std::move(nodes_); }

 private:
  struct Work {
    std::function<void()> work;
    std::vector<CUgraphNode> after;
  };
  std::vector<Work> works_;
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes_;
  std::vector<CUgraphNode> last_;
};

struct CUstream_st {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> work;
  bool busy = false;
  std::optional<Capture> captured;

  CUstream_st() {
    std::thread([this] {
      std::unique_lock lock(mutex);
      while (true) {
        changed.wait(lock, [this] { return !work.empty(); });
        auto next = std::move(work.front());
        work.pop_front();
        busy = true;
        lock.unlock();
        see_earlier_work();
        if (broken == CUDA_SUCCESS) next();
        see_earlier_work();
        lock.lock();
        busy = false;
        changed.notify_all();
      }
    }).detach();
  }
  CUresult put(std::function<void()> what) {
    if (broken != CUDA_SUCCESS) return broken;
    if (captured) {
      captured->add(std::move(what));
      return CUDA_SUCCESS;
    }
    {
      const std::lock_guard lock(mutex);
      work.push_back(std::move(what));
    }
    changed.notify_all();
    return CUDA_SUCCESS;
  }
  bool idle() {
    const std::lock_guard lock(mutex);
    return work.empty() && !busy;
  }
};

/// All streams.
class Streams {
 public:
  void add(CUstream stream) {
    const std::lock_guard lock(mutex_);
    all_.push_back(stream);
  }
  std::vector<CUstream> all() {
    const std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::vector<CUstream> all_;
};
static Streams& streams = *new Streams;

struct CUmod_st {
  std::string code;
};
struct CUfunc_st {
  std::string name;
  std::function<void(const Launch&)> run;
  std::vector<std::pair<std::size_t, std::size_t>> parameters;  ///< offset and size of each
};
struct CUlinkState_st {
  std::string code;
};

EXPORT cuInit(unsigned) {
  return std::getenv("FAKE_CUDA_BROKEN") != nullptr ? CUDA_ERROR_NO_DEVICE : CUDA_SUCCESS;
}
EXPORT cuDriverGetVersion(int* version) {
  const char* wanted = std::getenv("FAKE_CUDA_VERSION");
  *version = wanted != nullptr ? std::atoi(wanted) : 13000;
  return CUDA_SUCCESS;
}
EXPORT cuGetErrorName(CUresult result, const char** name) {
  *name = result == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_OF_THE_FAKE";
  return CUDA_SUCCESS;
}
EXPORT cuGetErrorString(CUresult result, const char** text) {
  return cuGetErrorName(result, text);
}
EXPORT cuDeviceGetCount(int* count) {
  const char* wanted = std::getenv("FAKE_CUDA_GPUS");
  *count = wanted != nullptr ? std::atoi(wanted) : 1;
  return CUDA_SUCCESS;
}
EXPORT cuDeviceGet(CUdevice* device, int number) {
  *device = number;
  return CUDA_SUCCESS;
}
EXPORT cuDeviceGetName(char* name, int size, CUdevice device) {
  std::strncpy(name, ("Fake GPU " + std::to_string(device)).c_str(), static_cast<std::size_t>(size));
  return CUDA_SUCCESS;
}
EXPORT cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  std::memset(uuid, device + 1, sizeof *uuid);
  return CUDA_SUCCESS;
}
EXPORT cuDeviceGetAttribute(int* value, CUdevice_attribute name, CUdevice /*device*/) {
  static const char* const wanted = std::getenv("FAKE_CUDA_CAPABILITY");
  static const int capability = wanted != nullptr ? std::atoi(wanted) : 90;
  static const std::map<int, int> values{
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, capability / 10},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, capability % 10},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
      {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
      {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
      {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
      {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
      {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
      {CU_DEVICE_ATTRIBUTE_INTEGRATED, 0},
      {CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 0},
      {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1},
      {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0},
      {CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0},
      {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 6},
      {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048},
      {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, !is_set("FAKE_CUDA_OTHER_ADDRESSES")},
      {133, 0},  // CU_DEVICE_ATTRIBUTE_MPS_ENABLED, which older headers lack
      {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, is_set("FAKE_CUDA_HOST_ATOMICS")},
  };
  const auto found = values.find(name);
  *value = found != values.end() ? found->second : 16384;
  return CUDA_SUCCESS;
}
EXPORT cuDeviceTotalMem_v2(std::size_t* size, CUdevice /*device*/) {
  *size = std::size_t{4} << 30U;
  return CUDA_SUCCESS;
}
EXPORT cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice /*device*/) {
  *pool = reinterpret_cast<CUmemoryPool>(1);
  return CUDA_SUCCESS;
}
EXPORT cuMemPoolSetAttribute(CUmemoryPool /*pool*/, CUmemPool_attribute /*name*/, void* /*value*/) {
  return CUDA_SUCCESS;
}
EXPORT cuMemPoolTrimTo(CUmemoryPool /*pool*/, std::size_t /*kept*/) {
  return CUDA_SUCCESS;
}
EXPORT cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice /*device*/) {
  *context = nullptr;
  return CUDA_SUCCESS;
}
EXPORT cuCtxSetCurrent(CUcontext /*context*/) {
  return CUDA_SUCCESS;
}
EXPORT cuCtxSynchronize() {
  return broken;
}

EXPORT cuMemAlloc_v2(CUdeviceptr* address, std::size_t size) {
  if (broken != CUDA_SUCCESS) return broken;
  if (size > (std::size_t{4} << 30U)) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = memory.take_file(size);
  return *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}
EXPORT cuMemGetAddressRange_v2(CUdeviceptr* /*base*/, std::size_t* size, CUdeviceptr address) {
  const auto block = memory.find(address);
  if (!block) return CUDA_ERROR_NOT_FOUND;
  *size = block->size;
  return CUDA_SUCCESS;
}
EXPORT cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr address) {
  const auto block = memory.find(address);
  if (!block || block->file < 0) return CUDA_ERROR_INVALID_VALUE;
  const SharedName name{::getpid(), block->file, block->size};
  *handle = {};
  std::memcpy(handle->reserved, &name, sizeof name);
  return CUDA_SUCCESS;
}
EXPORT cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned /*flags*/) {
  SharedName name{};
  std::memcpy(&name, handle.reserved, sizeof name);
  const std::string path = "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return CUDA_ERROR_INVALID_VALUE;
  *address = memory.add_file(file, name.size);
  return *address != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
EXPORT cuMemGetAllocationGranularity(std::size_t* size, const CUmemAllocationProp* /*property*/,
                                     CUmemAllocationGranularity_flags /*which*/) {
  *size = Pages::kGranularity;
  return CUDA_SUCCESS;
}
/// @returns MAP_FAILED if there are no addresses.
static void* reserve_aligned(std::size_t size) {
  constexpr std::size_t kUnit = Pages::kGranularity;
  void* const all =
      ::mmap(nullptr, size + kUnit, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return all;
  const auto begin = reinterpret_cast<std::uintptr_t>(all);
  const std::uintptr_t place = (begin + kUnit - 1) / kUnit * kUnit;
  if (place != begin) ::munmap(all, place - begin);
  ::munmap(reinterpret_cast<void*>(place + size), begin + kUnit - place);
  return reinterpret_cast<void*>(place);
}
EXPORT cuMemAddressReserve(CUdeviceptr* address, std::size_t size, std::size_t /*alignment*/,
                           CUdeviceptr wanted, unsigned long long /*flags*/) {
  // Like the real driver, takes hints only for large pieces. 0 is no hint: as root, the kernel would place
  // the memory there.
  void* place = MAP_FAILED;
  if (wanted != 0 && size >= (32U << 20U) && wanted % (32U << 20U) == 0)
    place = ::mmap(reinterpret_cast<void*>(wanted), size, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (place == MAP_FAILED) place = reserve_aligned(size);
  if (place == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(place);
  return CUDA_SUCCESS;
}
EXPORT cuMemAddressFree(CUdeviceptr address, std::size_t size) {
  return ::munmap(reinterpret_cast<void*>(address), size) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
EXPORT cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t size,
                   const CUmemAllocationProp* /*property*/, unsigned long long /*flags*/) {
  return broken != CUDA_SUCCESS ? broken.load() : pages.create(handle, size);
}
EXPORT cuMemRelease(CUmemGenericAllocationHandle handle) {
  return pages.release(handle);
}
EXPORT cuMemMap(CUdeviceptr address, std::size_t size, std::size_t /*offset*/,
                CUmemGenericAllocationHandle handle, unsigned long long /*flags*/) {
  return pages.map(address, size, handle);
}
EXPORT cuMemSetAccess(CUdeviceptr address, std::size_t size, const CUmemAccessDesc* /*access*/,
                      std::size_t /*count*/) {
  return pages.set_access(address, size);
}
EXPORT cuMemUnmap(CUdeviceptr address, std::size_t size) {
  return pages.unmap(address, size);
}
EXPORT cuMemFree_v2(CUdeviceptr address) {
  memory.give_back(address);
  return broken;
}
EXPORT cuMemAllocAsync(CUdeviceptr* address, std::size_t size, CUstream /*stream*/) {
  if (broken != CUDA_SUCCESS) return broken;
  if (size > (std::size_t{4} << 30U)) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = memory.take(size);
  return CUDA_SUCCESS;
}
EXPORT cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return stream->put([address] { memory.give_back(address); });
}
EXPORT cuMemHostAlloc(void** block, std::size_t size, unsigned /*flags*/) {
  *block = std::aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  return CUDA_SUCCESS;
}
EXPORT cuMemHostRegister_v2(void* block, std::size_t size, unsigned flags) {
  if (broken != CUDA_SUCCESS) return broken;
  if (flags != (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP)) return CUDA_ERROR_INVALID_VALUE;
  if (size > kMostRegistered) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto address = reinterpret_cast<CUdeviceptr>(block);
  if (memory.find(address)) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  memory.add_registered(address, size);
  return CUDA_SUCCESS;
}
EXPORT cuMemHostUnregister(void* block) {
  const auto address = reinterpret_cast<CUdeviceptr>(block);
  if (!memory.find(address)) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  memory.forget(address);
  return CUDA_SUCCESS;
}
EXPORT cuMemFreeHost(void* block) {
  std::free(block);
  return CUDA_SUCCESS;
}
EXPORT cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* block, unsigned /*flags*/) {
  *address = reinterpret_cast<CUdeviceptr>(block);
  if (is_set("FAKE_CUDA_OTHER_ADDRESSES") && memory.find(*address)) *address += 1U << 20U;
  return CUDA_SUCCESS;
}
EXPORT cuStreamSynchronize(CUstream stream);
/// Puts a copy into the stream. As the real driver says of its calls, one within host memory is over when the
/// call returns.
CUresult put_copy(CUstream stream, bool within_host, std::function<void()> what) {
  const CUresult result = stream->put(std::move(what));
  return result != CUDA_SUCCESS || !within_host || stream->captured ? result : cuStreamSynchronize(stream);
}
EXPORT cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t size, CUstream stream) {
  return put_copy(stream, memory.is_registered(to), [=] {
    if (memory.owns(to, size)) std::memcpy(reinterpret_cast<void*>(to), from, size);
  });
}
EXPORT cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return put_copy(stream, memory.is_registered(from), [=] {
    if (memory.owns(from, size)) std::memcpy(to, reinterpret_cast<const void*>(from), size);
  });
}
EXPORT cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return put_copy(stream, memory.is_registered(to) && memory.is_registered(from), [=] {
    if (memory.owns(from, size) && memory.owns(to, size))
      std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), size);
  });
}

namespace {

/// The source or the destination of a copy, with its pitches.
struct Side {
  unsigned char* base;
  std::size_t pitch, slice;
  bool device;
};

Side side(CUmemorytype type, const void* host, CUdeviceptr device, CUarray array, std::size_t pitch,
          std::size_t height) {
  if (type == CU_MEMORYTYPE_ARRAY) {
    auto* known = reinterpret_cast<Array*>(array);
    return {known->bytes.data(), known->row, known->row * known->height, false};
  }
  auto* base = type == CU_MEMORYTYPE_HOST ? static_cast<unsigned char*>(const_cast<void*>(host))
                                          : reinterpret_cast<unsigned char*>(device);
  return {base, pitch, pitch * height, type == CU_MEMORYTYPE_DEVICE};
}

bool fits(CUmemorytype type, CUarray array, std::size_t x, std::size_t y, std::size_t z,
          const CUDA_MEMCPY3D& copy) {
  if (type != CU_MEMORYTYPE_ARRAY) return true;
  const auto* known = reinterpret_cast<const Array*>(array);
  return x + copy.WidthInBytes <= known->row && y + copy.Height <= known->height &&
         z + copy.Depth <= known->depth;
}

}  // namespace

EXPORT cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* given, CUstream stream) {
  const CUDA_MEMCPY3D copy = *given;
  const bool right = fits(copy.srcMemoryType, copy.srcArray, copy.srcXInBytes, copy.srcY, copy.srcZ, copy) &&
                     fits(copy.dstMemoryType, copy.dstArray, copy.dstXInBytes, copy.dstY, copy.dstZ, copy) &&
                     (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY || copy.Height * copy.Depth == 1 ||
                      copy.srcPitch >= copy.srcXInBytes + copy.WidthInBytes) &&
                     (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY || copy.Height * copy.Depth == 1 ||
                      copy.dstPitch >= copy.dstXInBytes + copy.WidthInBytes) &&
                     (copy.srcMemoryType == CU_MEMORYTYPE_ARRAY || copy.Depth == 1 ||
                      copy.srcHeight >= copy.srcY + copy.Height) &&
                     (copy.dstMemoryType == CU_MEMORYTYPE_ARRAY || copy.Depth == 1 ||
                      copy.dstHeight >= copy.dstY + copy.Height);
  if (!right) return CUDA_ERROR_INVALID_VALUE;
  return stream->put([copy] {
    const Side from =
        side(copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, copy.srcPitch, copy.srcHeight);
    const Side to =
        side(copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, copy.dstPitch, copy.dstHeight);
    for (std::size_t z = 0; z < copy.Depth; ++z)
      for (std::size_t y = 0; y < copy.Height; ++y) {
        unsigned char* source =
            from.base + (copy.srcZ + z) * from.slice + (copy.srcY + y) * from.pitch + copy.srcXInBytes;
        unsigned char* target =
            to.base + (copy.dstZ + z) * to.slice + (copy.dstY + y) * to.pitch + copy.dstXInBytes;
        if ((!from.device || memory.owns(reinterpret_cast<CUdeviceptr>(source), copy.WidthInBytes)) &&
            (!to.device || memory.owns(reinterpret_cast<CUdeviceptr>(target), copy.WidthInBytes)))
          std::memcpy(target, source, copy.WidthInBytes);
      }
  });
}

namespace {
template <typename T>
CUresult set(CUdeviceptr to, T value, std::size_t count, CUstream stream) {
  if (to % sizeof(T) != 0) return CUDA_ERROR_INVALID_VALUE;
  return stream->put([=] {
    if (memory.owns(to, count * sizeof(T))) std::fill_n(reinterpret_cast<T*>(to), count, value);
  });
}
}  // namespace

EXPORT cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return set(to, value, count, stream);
}
EXPORT cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
  return set(to, value, count, stream);
}
EXPORT cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return set(to, value, count, stream);
}

EXPORT cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  std::size_t channel = 4;
  if (description->Format == CU_AD_FORMAT_UNSIGNED_INT8 || description->Format == CU_AD_FORMAT_SIGNED_INT8)
    channel = 1;
  if (description->Format == CU_AD_FORMAT_UNSIGNED_INT16 ||
      description->Format == CU_AD_FORMAT_SIGNED_INT16 || description->Format == CU_AD_FORMAT_HALF)
    channel = 2;
  auto* made = new Array{description->Width * channel * description->NumChannels,
                         std::max<std::size_t>(1, description->Height),
                         std::max<std::size_t>(1, description->Depth),
                         {}};
  made->bytes.resize(made->row * made->height * made->depth);
  *array = reinterpret_cast<CUarray>(made);
  return CUDA_SUCCESS;
}
EXPORT cuArrayDestroy(CUarray array) {
  // As on a GPU, this waits for all work.
  for (CUstream stream : streams.all()) cuStreamSynchronize(stream);
  delete reinterpret_cast<Array*>(array);
  return CUDA_SUCCESS;
}
EXPORT cuTexObjectCreate(CUtexObject* texture, const CUDA_RESOURCE_DESC* /*resource*/,
                         const CUDA_TEXTURE_DESC* /*description*/, const CUDA_RESOURCE_VIEW_DESC* /*view*/) {
  *texture = 1;
  return CUDA_SUCCESS;
}
EXPORT cuTexObjectDestroy(CUtexObject /*texture*/) {
  return CUDA_SUCCESS;
}
EXPORT cuSurfObjectCreate(CUsurfObject* surface, const CUDA_RESOURCE_DESC* /*resource*/) {
  *surface = 1;
  return CUDA_SUCCESS;
}
EXPORT cuSurfObjectDestroy(CUsurfObject /*surface*/) {
  return CUDA_SUCCESS;
}

EXPORT cuStreamCreate(CUstream* stream, unsigned /*flags*/) {
  *stream = new CUstream_st;
  streams.add(*stream);
  return CUDA_SUCCESS;
}
EXPORT cuStreamDestroy_v2(CUstream /*stream*/) {
  return CUDA_SUCCESS;
}
EXPORT cuStreamQuery(CUstream stream) {
  if (broken != CUDA_SUCCESS) return broken;
  return stream->idle() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
EXPORT cuStreamSynchronize(CUstream stream) {
  std::unique_lock lock(stream->mutex);
  stream->changed.wait(lock, [stream] { return stream->work.empty() && !stream->busy; });
  return broken;
}
EXPORT cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned /*flags*/) {
  return stream->put([=] {
    std::atomic_ref(*reinterpret_cast<std::uint32_t*>(address)).store(value, std::memory_order_release);
  });
}
EXPORT cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  if (flags != CU_STREAM_WAIT_VALUE_GEQ) return CUDA_ERROR_INVALID_VALUE;
  return stream->put([=] {
    const std::atomic_ref word(*reinterpret_cast<std::uint32_t*>(address));
    while (static_cast<std::int32_t>(word.load(std::memory_order_acquire) - value) < 0 &&
           broken == CUDA_SUCCESS)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
  });
}

namespace {
/// What a launch does; empty if the launch is not possible.
std::function<void()> work_of(const CUDA_KERNEL_NODE_PARAMS& all) {
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
}  // namespace

struct CUgraph_st {
  std::vector<std::function<void()>> work;
  std::deque<CUgraphNode_st> nodes;  // which an application has
  std::vector<std::unique_ptr<CUgraphNode_st>> captured;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> work;
};
EXPORT cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode /*mode*/) {
  if (stream->captured) return CUDA_ERROR_ILLEGAL_STATE;
  stream->captured.emplace();
  return CUDA_SUCCESS;
}
EXPORT cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  if (!stream->captured) return CUDA_ERROR_ILLEGAL_STATE;
  Capture captured = std::move(*std::exchange(stream->captured, std::nullopt));
  auto work = captured.in_order();
  *graph = new CUgraph_st{std::move(work), {}, captured.take_nodes()};
  return CUDA_SUCCESS;
}
EXPORT cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* /*id*/,
                                 CUgraph* /*graph*/, const CUgraphNode** after, size_t* count) {
  if (!stream->captured) return CUDA_ERROR_ILLEGAL_STATE;
  *status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  *after = stream->captured->last().data();
  *count = stream->captured->last().size();
  return CUDA_SUCCESS;
}
EXPORT cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* after, size_t count, unsigned flags) {
  if (!stream->captured) return CUDA_ERROR_ILLEGAL_STATE;
  return flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES && stream->captured->come_after({after, after + count})
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}
EXPORT cuGraphCreate(CUgraph* graph, unsigned /*flags*/) {
  *graph = new CUgraph_st;
  return CUDA_SUCCESS;
}
EXPORT cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* /*after*/, size_t count,
                               const CUDA_KERNEL_NODE_PARAMS* parameters) {
  auto work = work_of(*parameters);
  if (!work || count != 0) return CUDA_ERROR_INVALID_VALUE;
  *node = &graph->nodes.emplace_back(CUgraphNode_st{graph->work.size()});
  graph->work.push_back(std::move(work));
  return CUDA_SUCCESS;
}
EXPORT cuGraphExecKernelNodeSetParams_v2(CUgraphExec native, CUgraphNode node,
                                         const CUDA_KERNEL_NODE_PARAMS* parameters) {
  auto work = work_of(*parameters);
  if (!work) return CUDA_ERROR_INVALID_VALUE;
  native->work.at(node->index) = std::move(work);
  return CUDA_SUCCESS;
}
EXPORT cuGraphInstantiateWithFlags(CUgraphExec* native, CUgraph graph, unsigned long long /*flags*/) {
  *native = new CUgraphExec_st{graph->work};
  return CUDA_SUCCESS;
}
EXPORT cuGraphDestroy(CUgraph graph) {
  delete graph;
  return CUDA_SUCCESS;
}
EXPORT cuGraphExecDestroy(CUgraphExec native) {
  delete native;
  return CUDA_SUCCESS;
}
EXPORT cuGraphLaunch(CUgraphExec native, CUstream stream) {
  if (stream->captured) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return stream->put([work = native->work] {
    for (const auto& one : work) one();
  });
}

EXPORT cuEventCreate(CUevent* event, unsigned /*flags*/) {
  // Like the real driver's, they live as long as the context.
  static std::mutex mutex;
  static auto* const all = new std::deque<std::unique_ptr<Event>>;
  const std::lock_guard lock(mutex);
  *event = reinterpret_cast<CUevent>(all->emplace_back(std::make_unique<Event>()).get());
  return CUDA_SUCCESS;
}
EXPORT cuEventRecord(CUevent event, CUstream stream) {
  auto* known = reinterpret_cast<Event*>(event);
  known->done = false;
  return stream->put([known] {
    known->time = Clock::now();
    known->done = true;
  });
}
EXPORT cuEventQuery(CUevent event) {
  if (broken != CUDA_SUCCESS) return broken;
  // FAKE_CUDA_LATE: how long after an event has happened one learns of it, in ms.
  static const char* const late = std::getenv("FAKE_CUDA_LATE");
  static const std::chrono::milliseconds delay(late == nullptr ? 0 : std::atoi(late));
  const auto* known = reinterpret_cast<Event*>(event);
  return known->done && Clock::now() - known->time >= delay ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
EXPORT cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  const auto* first = reinterpret_cast<Event*>(begin);
  const auto* last = reinterpret_cast<Event*>(end);
  if (!first->done || !last->done) return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(last->time - first->time).count();
  return CUDA_SUCCESS;
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
/// Offsets and sizes of an entry's parameters as PTX declares them:
/// `.param .u64 name` or `.param .align 16 .b8 name[16]`. Attributes of pointers may be in between.
static std::vector<std::pair<std::size_t, std::size_t>> parameters_of(const std::string& code,
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
