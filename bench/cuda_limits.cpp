// The limits for bench_latency, bench_rate, bench_transfer and bench_requests on an NVIDIA GPU: the times of
// CUDA's driver itself. One thread launches kernels one by one and polls memory in which the GPU notes its
// progress. The figures have the same names as those of the other programs. Requests are also measured with a
// kernel in place of each copy.
#include <cstdint>

#include "cuda.hpp"

namespace {

using namespace bench;

// Each thread of `copy` copies 16 bytes.
constexpr const char* source = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry nothing() { ret; }
.visible .entry copy(.param .u64 to, .param .u64 from)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [from];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  mul.wide.u32 %rd3, %r1, 16;
  add.s64 %rd4, %rd2, %rd3;
  add.s64 %rd5, %rd1, %rd3;
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd4];
  st.global.v4.u32 [%rd5], {%r4, %r5, %r6, %r7};
  ret;
}
)";
constexpr int round_trips = 500;
constexpr int kernels = 20000;
/// Number of kernels after which the stream notes its progress.
constexpr int kernels_per_mark = 32;

struct LimitOptions : Options {
  std::vector<size_t> sizes{64 * kib, mib, 16 * mib, 256 * mib};
};

/// A stream, and a word of pinned memory in which it notes its progress.
class Stream {
 public:
  Stream() {
    call<"cuStreamCreate">(&stream_, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
    void* word = nullptr;
    call<"cuMemHostAlloc">(&word, sizeof *word_,
                           static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
    word_ = static_cast<std::uint32_t*>(word);
    *word_ = 0;
    call<"cuMemHostGetDevicePointer_v2">(&address_, word, 0U);
  }
  CUstream native() const { return stream_; }

  /// Lets the stream note when everything enqueued so far is complete.
  void mark() { call<"cuStreamWriteValue32_v2">(stream_, address_, ++marked_, 0U); }
  void wait() const {
    while (__atomic_load_n(word_, __ATOMIC_ACQUIRE) != marked_) __builtin_ia32_pause();
  }

 private:
  CUstream stream_ = nullptr;
  std::uint32_t* word_ = nullptr;
  CUdeviceptr address_ = 0;
  std::uint32_t marked_ = 0;
};

void launch(CUfunction kernel, const Stream& stream) {
  call<"cuLaunchKernel">(kernel, 1U, 1U, 1U, 1U, 1U, 1U, 0U, stream.native(), static_cast<void**>(nullptr),
                         static_cast<void**>(nullptr));
}

/// The seconds per command, for `count` commands in one measurement, each of which is waited for.
template <typename Command>
double one_by_one(const LimitOptions& options, Stream& stream, int count, const Command& command) {
  return median(options.repeats,
                [&] {
                  return seconds([&] {
                    for (int i = 0; i < count; ++i) {
                      command();
                      stream.mark();
                      stream.wait();
                    }
                  });
                }) /
         count;
}

void measure_transfers(const LimitOptions& options, const Gpu& gpu, Stream& stream, void* pinned) {
  for (const size_t size : options.sizes) {
    const auto rate = [&](const auto& copy) {
      return static_cast<double>(size) / one_by_one(options, stream, transfers_per_measurement(size), copy) /
             1e9;
    };
    report("pinned write " + size_name(size), rate([&] {
             call<"cuMemcpyHtoDAsync_v2">(gpu.memory, static_cast<const void*>(pinned), size,
                                          stream.native());
           }),
           "GB/s");
    report("pinned read " + size_name(size),
           rate([&] { call<"cuMemcpyDtoHAsync_v2">(pinned, gpu.memory, size, stream.native()); }), "GB/s");
  }
}

/// Requests as those of bench_requests, one at a time.
void measure_requests(const Gpu& gpu, Stream& stream, CUfunction copy, void* pinned) {
  constexpr int requests = 5000;
  constexpr int warm_up = 500;
  constexpr unsigned threads = 256;
  const auto host = reinterpret_cast<CUdeviceptr>(pinned);
  const auto with_kernel = [&](CUdeviceptr to, CUdeviceptr from, size_t size) {
    void* parameters[] = {&to, &from};
    call<"cuLaunchKernel">(copy, static_cast<unsigned>(size / 16 / threads), 1U, 1U, threads, 1U, 1U, 0U,
                           stream.native(), static_cast<void**>(parameters), static_cast<void**>(nullptr));
  };
  for (const size_t size : {4 * kib, 16 * kib, 64 * kib}) {
    const CUdeviceptr from = gpu.memory, to = from + size, answer = host + size;
    const auto measure = [&](const char* name, bool write_with_kernel, bool read_with_kernel) {
      std::vector<double> times;
      for (int i = -warm_up; i < requests; ++i) {
        const double time = seconds([&] {
          if (write_with_kernel)
            with_kernel(from, host, size);
          else
            call<"cuMemcpyHtoDAsync_v2">(from, static_cast<const void*>(pinned), size, stream.native());
          with_kernel(to, from, size);
          if (read_with_kernel)
            with_kernel(answer, to, size);
          else
            call<"cuMemcpyDtoHAsync_v2">(reinterpret_cast<void*>(answer), to, size, stream.native());
          stream.mark();
          stream.wait();
        });
        if (i >= 0) times.push_back(time);
      }
      const std::string title = size_name(size) + " request, " + name + ": ";
      report(title + "p50", 1e6 * quantile(times, 0.5), "us");
      report(title + "p99", 1e6 * quantile(times, 0.99), "us");
    };
    measure("copies", false, false);
    measure("write by a kernel", true, false);
    measure("read by a kernel", false, true);
    measure("kernels alone", true, true);
  }
}

void measure(const LimitOptions& options) {
  call<"cuInit">(0U);
  const size_t most = std::max(mib, *std::max_element(options.sizes.begin(), options.sizes.end()));
  const Gpu gpu(0, most);
  void* pinned = nullptr;
  call<"cuMemHostAlloc">(&pinned, most, static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE));
  CUmodule module = nullptr;
  CUfunction nothing = nullptr;
  call<"cuModuleLoadData">(&module, static_cast<const void*>(source));
  call<"cuModuleGetFunction">(&nothing, module, "nothing");
  Stream stream;

  const auto report_wait = [&](const char* name, const auto& command) {
    report(name, 1e6 * one_by_one(options, stream, round_trips, command), "us");
  };
  report_wait("empty kernel + clFinish", [&] { launch(nothing, stream); });
  report_wait("blocking read of 4 bytes",
              [&] { call<"cuMemcpyDtoHAsync_v2">(pinned, gpu.memory, size_t{4}, stream.native()); });
  const double flood = median(options.repeats, [&] {
    return seconds([&] {
      for (int i = 1; i <= kernels; ++i) {
        launch(nothing, stream);
        if (i % kernels_per_mark == 0) stream.mark();
      }
      stream.mark();
      stream.wait();
    });
  });
  report("empty kernels, one clFinish", kernels / flood, "/s");
  CUfunction copy = nullptr;
  call<"cuModuleGetFunction">(&copy, module, "copy");
  measure_requests(gpu, stream, copy, pinned);
  measure_transfers(options, gpu, stream, pinned);
}

}  // namespace

int main(int argc, char** argv) {
  LimitOptions options;
  return run(
      argc, argv, "Times of CUDA's driver itself, as limits for the other benchmarks", options,
      [&](CommandLine& line) { add_sizes(line, options.sizes); }, [&] { measure(options); });
}
