// Rates of commands: empty kernels in one in-order queue and in several, the same recorded in a command
// buffer, and setting kernel arguments.
#include <CL/cl_ext.h>

#include <algorithm>
#include <string_view>

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

/// The same number of kernels, enqueued to several queues in turn.
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

/// Whether the device has cl_khr_command_buffer. The functions that are used here have the same parameters in
/// all versions.
bool records_commands(const cl::Device& device) {
  size_t size = 0;
  clGetDeviceInfo(device(), CL_DEVICE_EXTENSIONS_WITH_VERSION_KHR, 0, nullptr, &size);
  std::vector<cl_name_version_khr> list(size / sizeof(cl_name_version_khr));
  clGetDeviceInfo(device(), CL_DEVICE_EXTENSIONS_WITH_VERSION_KHR, size, list.data(), nullptr);
  return std::any_of(list.begin(), list.end(), [](const cl_name_version_khr& entry) {
    return std::string_view(entry.name) == "cl_khr_command_buffer";
  });
}

/// Measures 100 kernels with one clFinish: enqueued one by one, and recorded (cl_khr_command_buffer).
void measure_recorded(const cl::Device& device, cl_command_queue queue, cl_kernel kernel, int repeats) {
  constexpr int kRecorded = 100;
  const auto rounds = [&](const std::string& name, const auto& enqueue_all) {
    constexpr int kRounds = 50;
    const auto round = [&] {
      enqueue_all();
      check(clFinish(queue), "clFinish");
    };
    round();
    const double time = median(repeats, [&] {
      return seconds([&] {
        for (int i = 0; i < kRounds; ++i) round();
      });
    });
    report(std::to_string(kRecorded) + " empty kernels + clFinish, " + name, 1e6 / kRounds * time, "us");
  };
  rounds("one by one", [&] {
    for (int i = 0; i < kRecorded; ++i) enqueue(queue, kernel);
  });

  if (!records_commands(device)) return;
  // Releases of the C++ bindings differ in the type that getInfo<CL_DEVICE_PLATFORM>() returns.
  cl_platform_id platform = nullptr;
  device.getInfo(CL_DEVICE_PLATFORM, &platform);
  const auto find = [&](auto& function, const char* name) {
    void* const found = clGetExtensionFunctionAddressForPlatform(platform, name);
    if (found == nullptr)
      throw std::runtime_error("the platform offers cl_khr_command_buffer, but not its function " +
                               std::string(name));
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
  };
  clCreateCommandBufferKHR_fn create = nullptr;
  clCommandNDRangeKernelKHR_fn record = nullptr;
  clFinalizeCommandBufferKHR_fn finalize = nullptr;
  clEnqueueCommandBufferKHR_fn run = nullptr;
  clReleaseCommandBufferKHR_fn release = nullptr;
  find(create, "clCreateCommandBufferKHR");
  find(record, "clCommandNDRangeKernelKHR");
  find(finalize, "clFinalizeCommandBufferKHR");
  find(run, "clEnqueueCommandBufferKHR");
  find(release, "clReleaseCommandBufferKHR");
  cl_int status = CL_SUCCESS;
  const cl_command_buffer_khr buffer = create(1, &queue, nullptr, &status);
  check(status, "clCreateCommandBufferKHR");
  const size_t one = 1;
  for (int i = 0; i < kRecorded; ++i)
    check(record(buffer, nullptr, nullptr, kernel, 1, nullptr, &one, nullptr, 0, nullptr, nullptr, nullptr),
          "clCommandNDRangeKernelKHR");
  check(finalize(buffer), "clFinalizeCommandBufferKHR");
  rounds("recorded",
         [&] { check(run(0, nullptr, buffer, 0, nullptr, nullptr), "clEnqueueCommandBufferKHR"); });
  release(buffer);
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
  if (devices.size() < options.devices)
    throw std::runtime_error("--devices " + std::to_string(options.devices) + ": the platform has " +
                             std::to_string(devices.size()));
  devices.resize(options.devices);
  const cl::Device device = devices.at(0);
  const cl::Context context(devices);
  const cl::CommandQueue queue(context, device);
  const cl::Kernel nothing = build_kernel(context, "kernel void nothing() {}", "nothing");
  measure_kernels(queue(), nothing(), options.repeats);
  measure_recorded(device, queue(), nothing(), options.repeats);
  for (const size_t count : {8, 64}) measure_queues(context, device, nothing(), count, options.repeats);

  const cl::Kernel store =
      build_kernel(context, "kernel void store(global int* to, int value) { *to = value; }", "store");
  const cl::Buffer buffer(context, CL_MEM_READ_WRITE, sizeof(cl_int));
  measure_arguments(store(), buffer(), options.repeats);
}

}  // namespace

int main(int argc, char** argv) {
  RateOptions options;
  const auto add = [&](CommandLine& line) {
    line.option("--devices", options.devices,
                "number of devices in the context, of which only the first works", 1);
  };
  return bench::run_opencl(argc, argv, "Command rates of one device", options, add,
                           [&] { measure(options); });
}
