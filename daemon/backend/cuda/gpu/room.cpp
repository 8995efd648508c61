#include "daemon/backend/cuda/gpu/room.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace clique::daemon::cuda {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kPause = 10ms;
constexpr int kMostPauses = 200;

/// Whether other processes hold so much memory that it matters if they end.
bool others_hold_much() {
  std::size_t free = 0;
  std::size_t total = 0;
  // Without a context, this process has no memory of the GPU.
  if (driver().MemGetInfo(&free, &total) != CUDA_SUCCESS) return true;
  CUdevice device = 0;
  CUmemoryPool pool = nullptr;
  cuuint64_t own = 0;
  if (driver().CtxGetDevice(&device) == CUDA_SUCCESS &&
      driver().DeviceGetDefaultMemPool(&pool, device) == CUDA_SUCCESS)
    static_cast<void>(driver().MemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &own));
  return total > free + own && total - free - own >= total / 8;
}

}  // namespace

CUresult when_there_is_room(const std::function<CUresult()>& allocate) {
  static std::atomic<int> pauses{0};
  for (;;) {
    const CUresult result = allocate();
    if (result != CUDA_ERROR_OUT_OF_MEMORY || !others_hold_much() || pauses.fetch_add(1) >= kMostPauses)
      return result;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace clique::daemon::cuda
