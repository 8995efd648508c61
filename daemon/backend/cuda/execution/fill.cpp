#include "daemon/backend/cuda/execution/fill.hpp"

#include <algorithm>
#include <cstring>

namespace clique::daemon::cuda {

namespace {

/// Each thread writes 8 bytes at a time, of a pattern that was repeated to fill 128 bytes:
/// for (i = index of the thread; i < count; i += number of threads) to[i] = pattern[i & 15].
constexpr const char* kFillPtx = R"(
.version 6.0
.target sm_50
.address_size 64
.visible .entry clique_fill(.param .u64 to, .param .u64 count, .param .align 16 .b8 pattern[128])
{
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [to];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u64 %rd2, [count];
  mov.b64 %rd3, pattern;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  cvt.u64.u32 %rd4, %r3;
  mad.wide.u32 %rd4, %r1, %r2, %rd4;
  mul.wide.u32 %rd5, %r2, %r4;
  shl.b64 %rd10, %rd5, 3;
  and.b64 %rd6, %rd4, 15;
  shl.b64 %rd6, %rd6, 3;
  add.s64 %rd7, %rd3, %rd6;
  ld.param.u64 %rd8, [%rd7];
  shl.b64 %rd9, %rd4, 3;
  add.s64 %rd9, %rd1, %rd9;
loop:
  setp.ge.u64 %p1, %rd4, %rd2;
  @%p1 bra done;
  st.global.u64 [%rd9], %rd8;
  add.s64 %rd9, %rd9, %rd10;
  add.s64 %rd4, %rd4, %rd5;
  bra loop;
done:
  ret;
}
)";

// A thread always writes the same part of the pattern.
static_assert(PtxKernel::kThreads % 16 == 0);
constexpr std::uint64_t kMostGroups = 4096;

struct FillParameters {
  CUdeviceptr to;
  std::uint64_t count;
  alignas(16) std::uint8_t pattern[128];
};

template <typename T>
T first(std::span<const std::uint8_t> pattern) {
  T value{};
  std::memcpy(&value, pattern.data(), sizeof value);
  return value;
}

/// The shortest pattern with the same effect: halves that are equal are folded.
std::span<const std::uint8_t> shortest(std::span<const std::uint8_t> pattern) {
  while (pattern.size() > 1) {
    const std::size_t half = pattern.size() / 2;
    if (!std::equal(pattern.begin(), pattern.begin() + static_cast<std::ptrdiff_t>(half),
                    pattern.begin() + static_cast<std::ptrdiff_t>(half)))
      break;
    pattern = pattern.first(half);
  }
  return pattern;
}

}  // namespace

Filler::Filler(const Capture& capture) : kernel_(capture, kFillPtx, "clique_fill", kMostGroups) {}

void Filler::fill(CUdeviceptr address, std::uint64_t size, std::span<const std::uint8_t> pattern,
                  CUstream stream) {
  if (size == 0) return;
  pattern = shortest(pattern);
  switch (pattern.size()) {
    case 1:
      CLIQUE_CUDA(MemsetD8Async(address, pattern[0], size, stream));
      return;
    case 2:
      CLIQUE_CUDA(MemsetD16Async(address, first<std::uint16_t>(pattern), size / 2, stream));
      return;
    case 4:
      CLIQUE_CUDA(MemsetD32Async(address, first<std::uint32_t>(pattern), size / 4, stream));
      return;
    default:
      break;
  }
  FillParameters parameters{address, size / 8, {}};
  for (std::size_t at = 0; at < sizeof parameters.pattern; at += pattern.size())
    std::copy(pattern.begin(), pattern.end(), parameters.pattern + at);
  kernel_.launch(parameters.count, {reinterpret_cast<std::uint8_t*>(&parameters), sizeof parameters}, stream);
}

}  // namespace clique::daemon::cuda
