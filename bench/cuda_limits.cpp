// The limits for bench_latency, bench_rate and bench_transfer on an NVIDIA GPU: the times of CUDA's driver
// itself. One thread launches kernels one by one and polls memory in which the GPU notes its progress. The
// figures have the same names as those of the other programs.
#include <cstdint>

#include "cuda.hpp"

namespace {

using namespace bench;

constexpr const char* source =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n";
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

void measure(const LimitOptions& options) {
  call<"cuInit">(0U);
  const size_t most = *std::max_element(options.sizes.begin(), options.sizes.end());
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
  measure_transfers(options, gpu, stream, pinned);
}

}  // namespace

int main(int argc, char** argv) {
  LimitOptions options;
  return run(
      argc, argv, "Times of CUDA's driver itself, as limits for the other benchmarks", options,
      [&](CommandLine& line) { add_sizes(line, options.sizes); }, [&] { measure(options); });
}
