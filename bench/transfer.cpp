// How fast the application's own, pageable memory goes to a device and comes back.
#include <array>

#include "opencl.hpp"

namespace {

using namespace bench;

constexpr std::array sizes{64 * kib, mib, 16 * mib, 256 * mib};

/// Reports GB/s of `transfer`, which moves `bytes` and blocks. A driver may copy what is written and let the
/// application go on before it has arrived, so a measurement ends with clFinish.
template <typename Transfer>
void report_transfer(const std::string& name, cl_command_queue queue, size_t bytes, int repeats,
                     Transfer&& transfer) {
  const int count = transfers_per_measurement(bytes);
  const double time = median(repeats, [&] {
    return seconds([&] {
      for (int i = 0; i < count; ++i) transfer();
      check(clFinish(queue), "clFinish");
    });
  });
  report(name + " " + size_name(bytes), 1e-9 * static_cast<double>(bytes) * count / time, "GB/s");
}

void measure(const OpenCLOptions& options) {
  const cl::Device device = devices_of(options.platform).at(0);
  const cl::Context context(device);
  const cl::CommandQueue queue(context, device);
  for (const size_t size : sizes) {
    const cl::Buffer buffer(context, CL_MEM_READ_WRITE, size);
    std::vector<unsigned char> out(size);
    for (size_t i = 0; i < size; ++i) out[i] = static_cast<unsigned char>(i * 2654435761U >> 24U);
    std::vector<unsigned char> in(size);
    report_transfer("blocking write", queue(), size, options.repeats, [&] {
      check(clEnqueueWriteBuffer(queue(), buffer(), CL_TRUE, 0, size, out.data(), 0, nullptr, nullptr),
            "clEnqueueWriteBuffer");
    });
    report_transfer("blocking read", queue(), size, options.repeats, [&] {
      check(clEnqueueReadBuffer(queue(), buffer(), CL_TRUE, 0, size, in.data(), 0, nullptr, nullptr),
            "clEnqueueReadBuffer");
    });
    if (in != out) throw std::runtime_error("what was read is not what was written");
  }
}

}  // namespace

int main(int argc, char** argv) {
  bench::OpenCLOptions options;
  return bench::run_opencl(argc, argv, "Transfers between host and device", options,
                           [&] { measure(options); });
}
