// Latencies of an application: of its first kernel, of building a program, of an empty kernel, and of
// transferring a few bytes.
#include <random>

#include "opencl.hpp"

namespace {

using namespace bench;

struct LatencyOptions : OpenCLOptions {
  int round_trips = 500;
};

/// Measures the build of a program that was never built before, and of the same source again, which may come
/// from a cache.
void measure_builds(const cl::Context& context, int repeats) {
  std::random_device random;
  std::vector<double> again;
  const double first = median(repeats, [&] {
    const std::string source =
        "kernel void blend(global float* to, global const float* from, float part) {\n"
        "  const size_t i = get_global_id(0);\n"
        "  for (int n = 0; n < 100; ++n)\n"
        "    to[i] = mix(to[i], sin(from[i]), part) + " +
        std::to_string(random()) + ".0f;\n}\n";
    const auto build = [&] { return seconds([&] { build_kernel(context, source.c_str(), "blend"); }); };
    const double time = build();
    again.push_back(build());
    return time;
  });
  report("build of a new program", 1e3 * first, "ms");
  report("build of a program once more", 1e3 * median(again), "ms");
}

void measure(const LatencyOptions& options) {
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
  measure_builds(queue.getInfo<CL_QUEUE_CONTEXT>(), options.repeats);

  const auto report_wait = [&](const char* name, auto&& wait) {
    const double time = median(options.repeats, [&] {
      return seconds([&] {
        for (int i = 0; i < options.round_trips; ++i) wait();
      });
    });
    report(name, 1e6 / options.round_trips * time, "us");
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
  LatencyOptions options;
  const auto add = [&](CommandLine& line) {
    line.option("--round-trips", options.round_trips, "number of waits in one measurement");
  };
  return bench::run_opencl(argc, argv, "Latencies of one device", options, add, [&] { measure(options); });
}
