#include "daemon/backend/cuda/execution/host_copies.hpp"

#include <algorithm>

#include "daemon/common/log.hpp"

namespace clique::daemon::cuda {

namespace {

/// Each thread copies 16 bytes at a time, and then single bytes:
/// for (i = index of the thread; i < wide; i += number of threads) to16[i] = from16[i];
/// for (i = 16 * wide + index of the thread; i < size; i += number of threads) to[i] = from[i].
constexpr const char* kHostCopyPtx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry clique_host_copy(.param .u64 to, .param .u64 from, .param .u64 wide, .param .u64 size)
{
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<11>;
  ld.param.u64 %rd1, [to];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u64 %rd2, [from];
  cvta.to.global.u64 %rd2, %rd2;
  ld.param.u64 %rd3, [wide];
  ld.param.u64 %rd4, [size];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  cvt.u64.u32 %rd5, %r3;
  mad.wide.u32 %rd5, %r1, %r2, %rd5;
  mul.wide.u32 %rd6, %r2, %r4;
  mov.u64 %rd7, %rd5;
next_wide:
  setp.ge.u64 %p1, %rd7, %rd3;
  @%p1 bra rest;
  shl.b64 %rd8, %rd7, 4;
  add.s64 %rd9, %rd2, %rd8;
  ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%rd9];
  add.s64 %rd10, %rd1, %rd8;
  st.global.v4.u32 [%rd10], {%r5, %r6, %r7, %r8};
  add.s64 %rd7, %rd7, %rd6;
  bra next_wide;
rest:
  shl.b64 %rd8, %rd3, 4;
  add.s64 %rd7, %rd5, %rd8;
next_byte:
  setp.ge.u64 %p2, %rd7, %rd4;
  @%p2 bra done;
  add.s64 %rd9, %rd2, %rd7;
  ld.global.u8 %r5, [%rd9];
  add.s64 %rd10, %rd1, %rd7;
  st.global.u8 [%rd10], %r5;
  add.s64 %rd7, %rd7, %rd6;
  bra next_byte;
done:
  ret;
}
)";

/// Enough to keep the way to the host busy.
constexpr std::uint64_t kMostCopyGroups = 512;

struct HostCopyParameters {
  CUdeviceptr to;
  CUdeviceptr from;
  std::uint64_t wide;
  std::uint64_t size;
};

}  // namespace

HostCopies::HostCopies(const Capture& capture)
    : kernel_(capture, kHostCopyPtx, "clique_host_copy", kMostCopyGroups) {}

void HostCopies::load() {
  try {
    kernel_.load();
  } catch (const ClError& error) {
    spdlog::info("small writes use ordinary copies, since the driver refused their kernel: {}", error.what());
  }
}

void HostCopies::copy(CUdeviceptr to, CUdeviceptr from, std::uint64_t size, CUstream stream) {
  if (size == 0) return;
  HostCopyParameters parameters{to, from, (to | from) % kWide == 0 ? size / kWide : 0, size};
  const std::uint64_t steps = std::max(parameters.wide, size - parameters.wide * kWide);
  kernel_.launch(steps, {reinterpret_cast<std::uint8_t*>(&parameters), sizeof parameters}, stream);
}

}  // namespace clique::daemon::cuda
