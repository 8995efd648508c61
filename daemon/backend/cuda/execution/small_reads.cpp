#include "daemon/backend/cuda/execution/small_reads.hpp"

#include <algorithm>

#include "daemon/backend/cuda/gpu/grid_limits.hpp"
#include "daemon/common/log.hpp"

namespace clique::daemon::cuda {

namespace {

/// One group runs for (i = index of the thread; i < count; i += number of threads) to[i] = from[i], where an
/// element is 4 bytes or, if `units` is 1, becomes an EarlyUnit. When all threads are done, *word = number.
/// The fence of one thread covers the whole group's writes, since the barrier is before it.
constexpr const char* kSmallReadPtx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry clique_small_read(.param .u64 to, .param .u64 from, .param .u64 word, .param .u32 count,
                                  .param .u32 number, .param .u64 units)
{
  .reg .pred %p<4>;
  .reg .b32 %r<7>;
  .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [from];
  ld.param.u32 %r1, [count];
  ld.param.u64 %rd8, [units];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  setp.ne.u64 %p3, %rd8, 0;
  mov.u32 %r6, 1;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ntid.x;
loop:
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra copied;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.u32 %r4, [%rd4];
  @%p3 bra unit;
  add.s64 %rd5, %rd1, %rd3;
  st.global.u32 [%rd5], %r4;
  bra next;
unit:
  mul.wide.u32 %rd3, %r2, 8;
  add.s64 %rd5, %rd1, %rd3;
  mov.b64 %rd7, {%r4, %r6};
  st.volatile.global.u64 [%rd5], %rd7;
next:
  add.u32 %r2, %r2, %r3;
  bra loop;
copied:
  bar.sync 0;
  mov.u32 %r2, %tid.x;
  setp.ne.u32 %p2, %r2, 0;
  @%p2 bra done;
  ld.param.u64 %rd6, [word];
  ld.param.u32 %r5, [number];
  cvta.to.global.u64 %rd6, %rd6;
  membar.sys;
  st.volatile.global.u32 [%rd6], %r5;
done:
  ret;
}
)";

constexpr std::uint32_t kMostThreads = 256;

struct SmallReadParameters {
  const void* to;
  CUdeviceptr from;
  CUdeviceptr word;
  std::uint32_t count;
  std::uint32_t number;
  std::uint64_t units;
};
static_assert(sizeof(SmallReadParameters) == 5 * 8,
              "the driver refuses a block larger than the kernel's parameters");

}  // namespace

void SmallReads::load() {
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  CUresult result = driver().ModuleLoadData(&module, kSmallReadPtx);
  if (result == CUDA_SUCCESS) result = driver().ModuleGetFunction(&kernel, module, "clique_small_read");
  if (result == CUDA_SUCCESS)
    kernel_.store(kernel, std::memory_order_release);
  else
    spdlog::info("small reads use ordinary copies, since the driver refused their kernel: {}",
                 name_of(result));
}

void SmallReads::launch(const Read& read, CUstream stream) {
  SmallReadParameters parameters{read.to,     read.from,
                                 read.word,   static_cast<std::uint32_t>(read.size / kUnit),
                                 read.number, static_cast<std::uint64_t>(read.layout)};
  Grid grid;
  grid.groups = {1, 1, 1};
  grid.items = {std::min((parameters.count + kWarp - 1) / kWarp * kWarp, kMostThreads), 1, 1};
  launches_.launch({kernel_, grid, 0, {reinterpret_cast<std::uint8_t*>(&parameters), sizeof parameters}},
                   stream);
}

}  // namespace clique::daemon::cuda
