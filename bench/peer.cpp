// The cost of dependencies between two devices of one context: kernels that only wait for each other, and a
// buffer that both write. With fewer than two devices, it measures nothing.
#include <array>

#include "opencl.hpp"

namespace {

using namespace bench;

constexpr int chain_length = 1000;

struct PeerOptions : OpenCLOptions {
  std::vector<size_t> sizes{4 * kib, 64 * mib};
};

/// Two devices of one context, with an in-order queue each.
struct Pair {
  explicit Pair(const std::vector<cl::Device>& devices)
      : context({devices.at(0), devices.at(1)}),
        queues{cl::CommandQueue(context, devices[0]), cl::CommandQueue(context, devices[1])} {}

  /// Runs `kernel` `length` times, alternating between the devices after every `run` kernels. Events order
  /// the kernels of one device after those of the other.
  void chain(cl_kernel kernel, int length, int run = 1) const {
    const size_t one = 1;
    cl::Event previous;
    for (int i = 0; i < length; ++i) {
      const bool hop = i != 0 && i % run == 0;
      const bool last = (i + 1) % run == 0 || i + 1 == length;
      cl_event event = nullptr;
      check(
          clEnqueueNDRangeKernel(queues[static_cast<size_t>(i / run % 2)](), kernel, 1, nullptr, &one,
                                 nullptr, hop ? 1 : 0, hop ? &previous() : nullptr, last ? &event : nullptr),
          "clEnqueueNDRangeKernel");
      if (last) previous = cl::Event(event);
    }
    // Without flushing, a queue could wait for commands that the other one has not submitted.
    for (const cl::CommandQueue& queue : queues) queue.flush();
    previous.wait();
  }

  cl::Context context;
  std::array<cl::CommandQueue, 2> queues;
};

void measure_dependency(const Pair& pair, int repeats) {
  const cl::Kernel kernel = build_kernel(pair.context, "kernel void nothing() {}", "nothing");
  const double time = median(repeats, [&] { return seconds([&] { pair.chain(kernel(), chain_length); }); });
  report("dependency between devices", 1e6 / chain_length * time, "us");
}

/// Like a program that uses each device for a while: several kernels on one device, then several on the
/// other, on one small buffer.
void measure_chains(const Pair& pair, int repeats) {
  constexpr int run = 10;
  const cl::Buffer buffer(pair.context, CL_MEM_READ_WRITE, 4 * kib);
  cl::Kernel kernel =
      build_kernel(pair.context, "kernel void count(global int* data) { ++data[0]; }", "count");
  kernel.setArg(0, buffer);
  pair.queues[0].enqueueFillBuffer(buffer, cl_int{0}, 0, 4 * kib);
  pair.queues[0].finish();
  cl_int expected = 0;
  const double time = median(repeats, [&] {
    expected += chain_length;
    return seconds([&] { pair.chain(kernel(), chain_length, run); });
  });
  cl_int counted = 0;
  pair.queues[0].enqueueReadBuffer(buffer, CL_TRUE, 0, sizeof counted, &counted);
  if (counted != expected)
    throw std::runtime_error("the chain of kernels counted to " + std::to_string(counted) + " instead of " +
                             std::to_string(expected));
  report("10 kernels here, 10 there, per turn", 1e6 * run / chain_length * time, "us");
}

/// As far as a driver can know, the kernel writes the whole buffer, so that each change of device moves all
/// of it.
void measure_buffer(const Pair& pair, size_t size, int repeats) {
  const int hops = size >= mib ? 8 : 200;
  const cl::Buffer buffer(pair.context, CL_MEM_READ_WRITE, size);
  cl::Kernel kernel = build_kernel(
      pair.context, "kernel void count(global int* data, uint last) { ++data[0]; ++data[last]; }", "count");
  kernel.setArg(0, buffer);
  kernel.setArg(1, static_cast<cl_uint>(size / sizeof(cl_int) - 1));
  pair.queues[0].enqueueFillBuffer(buffer, cl_int{0}, 0, size);
  pair.queues[0].finish();

  cl_int expected = 0;
  const double time = median(repeats, [&] {
    expected += hops;
    return seconds([&] { pair.chain(kernel(), hops); });
  });

  std::vector<cl_int> data(size / sizeof(cl_int));
  pair.queues[0].enqueueReadBuffer(buffer, CL_TRUE, 0, size, data.data());
  if (data.front() != expected || data.back() != expected)
    throw std::runtime_error(
        "the buffer has wrong content after moving between the devices: an increment was lost");

  report("buffer between devices " + size_name(size), 1e6 / hops * time, "us");
}

void measure(const PeerOptions& options) {
  const std::vector<cl::Device> devices = devices_of(options.platform);
  if (devices.size() < 2) return;
  const Pair pair(devices);
  measure_dependency(pair, options.repeats);
  measure_chains(pair, options.repeats);
  for (const size_t size : options.sizes) measure_buffer(pair, size, options.repeats);
}

}  // namespace

int main(int argc, char** argv) {
  PeerOptions options;
  return bench::run_opencl(
      argc, argv, "Two devices of one context", options,
      [&](CommandLine& line) { bench::add_sizes(line, options.sizes); }, [&] { measure(options); });
}
