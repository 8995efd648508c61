// How fast commands are taken and executed: many empty kernels in one in-order queue and
// in many, and kernel arguments.
#include "opencl.hpp"

namespace {

using namespace bench;

constexpr int kernels = 20000;
constexpr int arguments = 200000;

void measure_kernels(cl_command_queue queue, cl_kernel kernel, int repeats) {
  const auto enqueue_all = [&] {
    for (int i = 0; i < kernels; ++i) enqueue(queue, kernel);
  };
  const auto finish = [&] { check(clFinish(queue), "clFinish"); };

  const double executed = median(repeats, [&] {
    return seconds([&] {
      enqueue_all();
      finish();
    });
  });
  report("empty kernels, one clFinish", kernels / executed, "/s");

  const double enqueued = median(repeats, [&] {
    const double time = seconds(enqueue_all);
    finish();
    return time;
  });
  report("clEnqueueNDRangeKernel call", 1e6 / kernels * enqueued, "us");
}

/// As many kernels in all, one queue after the other being given one.
void measure_queues(const cl::Context& context, const cl::Device& device, cl_kernel kernel, size_t count,
                    int repeats) {
  std::vector<cl::CommandQueue> queues;
  for (size_t i = 0; i < count; ++i) queues.emplace_back(context, device);
  const double time = median(repeats, [&] {
    return seconds([&] {
      for (size_t i = 0; i < kernels; ++i) enqueue(queues[i % count](), kernel);
      for (const cl::CommandQueue& queue : queues) check(clFlush(queue()), "clFlush");
      for (const cl::CommandQueue& queue : queues) check(clFinish(queue()), "clFinish");
    });
  });
  report("empty kernels in " + std::to_string(count) + " queues", kernels / time, "/s");
}

void measure_arguments(cl_kernel kernel, cl_mem buffer, int repeats) {
  const double time = median(repeats, [&] {
    return seconds([&] {
      for (cl_int i = 0; i < arguments; i += 2) {
        check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer), "clSetKernelArg");
        check(clSetKernelArg(kernel, 1, sizeof i, &i), "clSetKernelArg");
      }
    });
  });
  report("clSetKernelArg", arguments / time, "/s");
}

struct RateOptions : OpenCLOptions {
  size_t devices = 1;
};

void measure(const RateOptions& options) {
  std::vector<cl::Device> devices = devices_of(options.platform);
  if (devices.size() < options.devices) throw std::runtime_error("there are not so many devices");
  devices.resize(options.devices);
  const cl::Device device = devices.at(0);
  const cl::Context context(devices);
  const cl::CommandQueue queue(context, device);
  const cl::Kernel nothing = build_kernel(context, "kernel void nothing() {}", "nothing");
  measure_kernels(queue(), nothing(), options.repeats);
  for (const size_t count : {8, 64}) measure_queues(context, device, nothing(), count, options.repeats);

  const cl::Kernel store =
      build_kernel(context, "kernel void store(global int* to, int value) { *to = value; }", "store");
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE, sizeof(cl_int));
  measure_arguments(store(), buffer(), options.repeats);
}

}  // namespace

int main(int argc, char** argv) {
  RateOptions options;
  const auto add = [&](CLI::App& app) {
    app.add_option("--devices", options.devices, "of the context; all but the first have nothing to do")
        ->capture_default_str()
        ->check(CLI::PositiveNumber);
  };
  return bench::run_opencl(argc, argv, "Command rates of one device", options, add,
                           [&] { measure(options); });
}
