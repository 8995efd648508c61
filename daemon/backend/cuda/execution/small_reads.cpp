#include "daemon/backend/cuda/execution/small_reads.hpp"

#include <algorithm>
#include <cstdint>

#include "daemon/backend/cuda/gpu/grid_limits.hpp"
#include "daemon/common/log.hpp"

namespace clique::daemon::cuda {

namespace {

/// One group runs for (i = index of the thread; i < count; i += number of threads) to[i] = from[i]. An
/// element of clique_small_read is 4 bytes or, if `units` is 1, becomes an EarlyUnit; one of clique_wide_read
/// is 16 bytes, of which a thread has four under way at once. When all threads are done, *there = 1 unless
/// `there` is 0, and *word = number. The fence of one thread covers the whole group's writes, since the
/// barrier is before it.
constexpr const char* kReadPtx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry clique_small_read(.param .u64 to, .param .u64 from, .param .u64 word, .param .u32 count,
                                  .param .u32 number, .param .u64 there, .param .u64 units)
{
  .reg .pred %p<5>;
  .reg .b32 %r<7>;
  .reg .b64 %rd<10>;
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
  ld.param.u64 %rd9, [there];
  cvta.to.global.u64 %rd6, %rd6;
  membar.sys;
  setp.eq.u64 %p4, %rd9, 0;
  @%p4 bra told;
  cvta.to.global.u64 %rd9, %rd9;
  st.volatile.global.u32 [%rd9], %r6;
told:
  st.volatile.global.u32 [%rd6], %r5;
done:
  ret;
}
.visible .entry clique_wide_read(.param .u64 to, .param .u64 from, .param .u64 word, .param .u32 count,
                                 .param .u32 number, .param .u64 there)
{
  .reg .pred %p<7>;
  .reg .b32 %r<24>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [from];
  ld.param.u32 %r1, [count];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %ntid.x;
  mul.wide.u32 %rd3, %r3, 16;
loop:
  setp.ge.u32 %p1, %r2, %r1;
  @%p1 bra copied;
  mul.wide.u32 %rd4, %r2, 16;
  add.s64 %rd5, %rd1, %rd4;
  add.s64 %rd6, %rd2, %rd4;
  add.s64 %rd7, %rd6, %rd3;
  add.s64 %rd8, %rd7, %rd3;
  add.s64 %rd9, %rd8, %rd3;
  add.u32 %r2, %r2, %r3;
  setp.lt.u32 %p2, %r2, %r1;
  add.u32 %r2, %r2, %r3;
  setp.lt.u32 %p3, %r2, %r1;
  add.u32 %r2, %r2, %r3;
  setp.lt.u32 %p4, %r2, %r1;
  add.u32 %r2, %r2, %r3;
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd6];
  @%p2 ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd7];
  @%p3 ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd8];
  @%p4 ld.global.v4.u32 {%r16, %r17, %r18, %r19}, [%rd9];
  st.global.v4.u32 [%rd5], {%r4, %r5, %r6, %r7};
  add.s64 %rd5, %rd5, %rd3;
  @%p2 st.global.v4.u32 [%rd5], {%r8, %r9, %r10, %r11};
  add.s64 %rd5, %rd5, %rd3;
  @%p3 st.global.v4.u32 [%rd5], {%r12, %r13, %r14, %r15};
  add.s64 %rd5, %rd5, %rd3;
  @%p4 st.global.v4.u32 [%rd5], {%r16, %r17, %r18, %r19};
  bra loop;
copied:
  bar.sync 0;
  mov.u32 %r2, %tid.x;
  setp.ne.u32 %p5, %r2, 0;
  @%p5 bra done;
  ld.param.u64 %rd10, [word];
  ld.param.u32 %r5, [number];
  ld.param.u64 %rd11, [there];
  cvta.to.global.u64 %rd10, %rd10;
  mov.u32 %r4, 1;
  membar.sys;
  setp.eq.u64 %p6, %rd11, 0;
  @%p6 bra told;
  cvta.to.global.u64 %rd11, %rd11;
  st.volatile.global.u32 [%rd11], %r4;
told:
  st.volatile.global.u32 [%rd10], %r5;
done:
  ret;
}
)";

constexpr std::uint32_t kMostThreads = 256;
constexpr std::uint32_t kMostWideThreads = 1024;

struct WideReadParameters {
  const void* to;
  CUdeviceptr from;
  CUdeviceptr word;
  std::uint32_t count;
  std::uint32_t number;
  const std::uint32_t* there;
};
struct SmallReadParameters : WideReadParameters {
  std::uint64_t units;
};
static_assert(sizeof(WideReadParameters) == 5 * 8 && sizeof(SmallReadParameters) == 6 * 8,
              "the driver refuses a block larger than the kernel's parameters");

}  // namespace

void SmallReads::load() {
  CUmodule module = nullptr;
  CUresult result = driver().ModuleLoadData(&module, kReadPtx);
  if (result == CUDA_SUCCESS)
    result = driver().ModuleGetFunction(&small_.function, module, "clique_small_read");
  if (result == CUDA_SUCCESS)
    result = driver().ModuleGetFunction(&wide_.function, module, "clique_wide_read");
  if (result == CUDA_SUCCESS)
    loaded_.store(true, std::memory_order_release);
  else
    spdlog::info("small reads use ordinary copies, since the driver refused their kernels: {}",
                 name_of(result));
}

void SmallReads::read(const Place& to, CUdeviceptr from, std::size_t size, CUdeviceptr word,
                      std::uint32_t number, CUstream stream) {
  const bool in_units = to.bytes == nullptr;
  const bool wide = !in_units && (reinterpret_cast<std::uintptr_t>(to.bytes) | from | size) % kWide == 0;
  const void* const place = in_units ? static_cast<const void*>(to.units) : to.bytes;
  SmallReadParameters parameters{
      {place, from, word, static_cast<std::uint32_t>(size / (wide ? kWide : kUnit)), number,
       in_units || to.units == nullptr ? nullptr : &to.units->there},
      in_units ? 1U : 0U};
  Grid grid;
  grid.groups = {1, 1, 1};
  grid.items = {
      std::min((parameters.count + kWarp - 1) / kWarp * kWarp, wide ? kMostWideThreads : kMostThreads), 1, 1};
  Kernel& kernel = wide ? wide_ : small_;
  const std::size_t block = wide ? sizeof(WideReadParameters) : sizeof(SmallReadParameters);
  kernel.launches.launch({kernel.function, grid, 0, {reinterpret_cast<std::uint8_t*>(&parameters), block}},
                         stream);
}

}  // namespace clique::daemon::cuda
