// Bandwidth of transfers between pageable memory of the application and a device: one after the other, and
// several at a time with one clFinish. Also for memory of CL_MEM_ALLOC_HOST_PTR.
#include <algorithm>
#include <random>

#include "opencl.hpp"

namespace {

using namespace bench;

struct TransferOptions : OpenCLOptions {
  std::vector<size_t> sizes{64 * kib, mib, 16 * mib, 256 * mib};
  bool compressible = false;
  bool only_pageable = false;
};

/// Noise, or data that compresses to about a third: records of 64 bytes, three quarters of which are those of
/// the record 4 KiB before.
std::vector<unsigned char> content(size_t size, bool compressible) {
  constexpr size_t kRecord = 64;
  constexpr size_t kDistance = 4 * kib;
  std::mt19937_64 random(1);
  std::vector<unsigned char> bytes(size);
  for (size_t i = 0; i < size; ++i)
    bytes[i] = compressible && i >= kDistance && i % kRecord < kRecord / 4 * 3
                   ? bytes[i - kDistance]
                   : static_cast<unsigned char>(random());
  return bytes;
}

/// Reports the GB/s of `count` calls of `transfer`, each of which moves `bytes`. A driver may copy the data
/// of a write and return before it has arrived, so a measurement ends with clFinish.
template <typename Transfer>
void report_transfers(const std::string& name, cl_command_queue queue, size_t bytes, int count, int repeats,
                      Transfer&& transfer) {
  const double time = median(repeats, [&] {
    return seconds([&] {
      for (int i = 0; i < count; ++i) transfer();
      check(clFinish(queue), "clFinish");
    });
  });
  report(name + " " + size_name(bytes), 1e-9 * static_cast<double>(bytes) * count / time, "GB/s");
}

void measure(const TransferOptions& options) {
  const cl::Device device = devices_of(options.platform).at(0);
  const cl::Context context(device);
  const cl::CommandQueue queue(context, device);
  for (const size_t size : options.sizes) {
    const cl::Buffer buffer(context, CL_MEM_READ_WRITE, size);
    const std::vector<unsigned char> out = content(size, options.compressible);
    const int count = transfers_per_measurement(size);
    const auto several = static_cast<size_t>(std::max(count, 4));
    std::vector<unsigned char> in(size * several);
    const auto write = [&](cl_bool blocking, const unsigned char* from) {
      check(clEnqueueWriteBuffer(queue(), buffer(), blocking, 0, size, from, 0, nullptr, nullptr),
            "clEnqueueWriteBuffer");
    };
    const auto read = [&](cl_bool blocking, unsigned char* to) {
      check(clEnqueueReadBuffer(queue(), buffer(), blocking, 0, size, to, 0, nullptr, nullptr),
            "clEnqueueReadBuffer");
    };
    const int repeats = options.repeats;
    report_transfers("blocking write", queue(), size, count, repeats, [&] { write(CL_TRUE, out.data()); });
    report_transfers("blocking read", queue(), size, count, repeats, [&] { read(CL_TRUE, in.data()); });
    const int pipelined = static_cast<int>(several);
    report_transfers("pipelined write", queue(), size, pipelined, repeats,
                     [&] { write(CL_FALSE, out.data()); });
    // Each read has a destination of its own: reads to the same one would have to complete in order.
    size_t next = 0;
    report_transfers("pipelined read", queue(), size, pipelined, repeats,
                     [&] { read(CL_FALSE, in.data() + next++ % several * size); });
    for (size_t i = 0; i < several; ++i)
      if (!std::equal(out.begin(), out.end(), in.begin() + static_cast<std::ptrdiff_t>(i * size)))
        throw std::runtime_error("a read from the device returned other data than was written");
    if (options.only_pageable) continue;

    const cl::Buffer host(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size);
    auto* const pinned = static_cast<unsigned char*>(
        queue.enqueueMapBuffer(host, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size));
    std::copy(out.rbegin(), out.rend(), pinned);
    report_transfers("pinned write", queue(), size, count, repeats, [&] { write(CL_TRUE, pinned); });
    std::fill_n(pinned, size, static_cast<unsigned char>(0));
    report_transfers("pinned read", queue(), size, count, repeats, [&] { read(CL_TRUE, pinned); });
    if (!std::equal(out.rbegin(), out.rend(), pinned))
      throw std::runtime_error("a read into pinned memory returned other data than was written");
    queue.enqueueUnmapMemObject(host, pinned);
    queue.finish();
  }
}

}  // namespace

int main(int argc, char** argv) {
  TransferOptions options;
  return bench::run_opencl(
      argc, argv, "Transfers between host and device", options,
      [&](CommandLine& line) {
        bench::add_sizes(line, options.sizes);
        line.flag("--only-pageable", options.only_pageable, "leave out memory of CL_MEM_ALLOC_HOST_PTR");
        line.flag("--compressible", options.compressible,
                  "transfer data that compresses to a third; by default, noise");
      },
      [&] { measure(options); });
}
