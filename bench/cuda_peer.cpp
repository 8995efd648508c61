// The limit for transfers between two GPUs of this host: CUDA's own copies within one process.
#include <array>

#include "cuda.hpp"

namespace {

using namespace bench;

struct PeerOptions : Options {
  std::vector<size_t> sizes{4 * kib, mib, 16 * mib, 64 * mib, 256 * mib, gib};
};

void measure(const PeerOptions& options) {
  call<"cuInit">(0U);
  const size_t most = *std::max_element(options.sizes.begin(), options.sizes.end());
  const std::array<Gpu, 2> gpus{Gpu(0, most), Gpu(1, most)};
  for (size_t i = 0; i < gpus.size(); ++i) {
    call<"cuCtxSetCurrent">(gpus[i].context);
    call<"cuCtxEnablePeerAccess">(gpus[1 - i].context, 0U);
  }
  for (const size_t size : options.sizes) {
    const double time = median(options.repeats, [&] {
      return seconds([&] {
        call<"cuMemcpyPeer">(gpus[0].memory, gpus[0].context, gpus[1].memory, gpus[1].context, size);
        call<"cuCtxSynchronize">();
      });
    });
    report("cuMemcpyPeer " + size_name(size), 1e6 * time, "us");
    report("cuMemcpyPeer " + size_name(size), static_cast<double>(size) / time / 1e9, "GB/s");
  }
}

}  // namespace

int main(int argc, char** argv) {
  PeerOptions options;
  return run(
      argc, argv, "CUDA's own copies between two GPUs of this host", options,
      [&](CommandLine& line) { add_sizes(line, options.sizes); }, [&] { measure(options); });
}
