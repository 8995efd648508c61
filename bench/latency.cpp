// How long an application waits: for its first kernel, for an empty kernel, for a few bytes.
#include "opencl.hpp"

namespace {

using namespace bench;

constexpr int round_trips = 500;

void measure(const OpenCLOptions& options) {
  cl::CommandQueue queue;
  cl::Kernel kernel;
  cl::Buffer buffer;
  const double first_use = seconds([&] {
    const cl::Device device = devices_of(options.platform).at(0);
    const cl::Context context(device);
    queue = cl::CommandQueue(context, device);
    buffer = cl::Buffer(context, CL_MEM_READ_WRITE, sizeof(cl_int));
    kernel = build_kernel(context, "kernel void nothing() {}", "nothing");
    enqueue(queue(), kernel());
    queue.finish();
  });
  report("first kernel of a program", 1e3 * first_use, "ms");

  const auto report_wait = [&](const char* name, auto&& wait) {
    const double time = median(options.repeats, [&] {
      return seconds([&] {
        for (int i = 0; i < round_trips; ++i) wait();
      });
    });
    report(name, 1e6 / round_trips * time, "us");
  };
  cl_int value = 1;
  report_wait("empty kernel + clFinish", [&] {
    enqueue(queue(), kernel());
    check(clFinish(queue()), "clFinish");
  });
  report_wait("blocking write of 4 bytes", [&] {
    check(clEnqueueWriteBuffer(queue(), buffer(), CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
  });
  report_wait("blocking read of 4 bytes", [&] {
    check(clEnqueueReadBuffer(queue(), buffer(), CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::OpenCLOptions options;
  return bench::run_opencl(argc, argv, "Latencies of one device", options, [&] { measure(options); });
}
