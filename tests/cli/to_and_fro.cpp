// A program whose buffer goes to and fro between the first device and the last one.
// Use: to_and_fro [--mib N] [--rounds N] [--thread] [--killed] [--fill N]
//   --mib N     the size of the buffer; default: 4
//   --rounds N  how often each of the two devices uses the buffer; default: 2
//   --thread    a second thread calls the API, too
//   --killed    ends by SIGKILL, a second after the work
//   --fill N    instead, fills N buffers of 8 MiB on the first device; prints the status of clFinish, and
//               the messages of the context's callback
//
// Prints what a trace must not change: properties of a queue, the answer for times, and a failure without an
// event. Exit status: 0 right; 1 a call failed, which is printed; 2 wrong result; 3 no device.
#include <CL/cl.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "program.hpp"

namespace {

using program::all_devices;
using program::check;

constexpr const char* kSource =
    "kernel void add_one(global uint* numbers, uint step) { numbers[get_global_id(0)] += step; }"
    "kernel void none(void) {}";

cl_command_queue make_queue(cl_context context, cl_device_id device) {
  cl_int status = CL_SUCCESS;
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, nullptr, &status);
  check(status, "clCreateCommandQueueWithProperties");
  return queue;
}

void fill(cl_device_id device, std::size_t count) {
  cl_int status = CL_SUCCESS;
  const auto print = [](const char* what, const void*, std::size_t, void*) { std::printf("%s\n", what); };
  cl_context context = clCreateContext(nullptr, 1, &device, print, nullptr, &status);
  check(status, "clCreateContext");
  cl_command_queue queue = make_queue(context, device);
  constexpr std::size_t kBytes = 8U << 20U;
  const cl_uint pattern = 1;
  for (std::size_t i = 0; i < count; ++i) {
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, kBytes, nullptr, &status);
    check(status, "clCreateBuffer");
    check(clEnqueueFillBuffer(queue, buffer, &pattern, sizeof pattern, 0, kBytes, 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
  }
  const cl_int first = clFinish(queue);
  std::printf("finished with %d, then with %d\n", first, clFinish(queue));
}

void print_what_stays(cl_program program, cl_command_queue queue) {
  cl_command_queue_properties properties = 0;
  check(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, nullptr),
        "clGetCommandQueueInfo");
  cl_int status = CL_SUCCESS;
  cl_kernel none = clCreateKernel(program, "none", &status);
  check(status, "clCreateKernel");
  const std::size_t one = 1;
  cl_event event = nullptr;
  check(clEnqueueNDRangeKernel(queue, none, 1, nullptr, &one, nullptr, 0, nullptr, &event),
        "clEnqueueNDRangeKernel");
  check(clWaitForEvents(1, &event), "clWaitForEvents");
  cl_ulong time = 0;
  const cl_int times = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof time, &time, nullptr);
  check(clReleaseEvent(event), "clReleaseEvent");
  check(clReleaseKernel(none), "clReleaseKernel");
  std::printf("properties %llu, times %d\n", static_cast<unsigned long long>(properties), times);
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t mib = 4;
  std::size_t rounds = 2;
  std::size_t fills = 0;
  bool thread = false;
  bool killed = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    thread = thread || option == "--thread";
    killed = killed || option == "--killed";
    if (option == "--fill" && i + 1 < argc) fills = std::strtoull(argv[++i], nullptr, 10);
    if (option == "--mib" && i + 1 < argc) mib = std::strtoull(argv[++i], nullptr, 10);
    if (option == "--rounds" && i + 1 < argc) rounds = std::strtoull(argv[++i], nullptr, 10);
  }
  const auto devices = all_devices();
  if (fills > 0) {
    fill(devices.front(), fills);
    return 0;
  }
  cl_int status = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, static_cast<cl_uint>(devices.size()), devices.data(), nullptr,
                                       nullptr, &status);
  check(status, "clCreateContext");
  const cl_command_queue queues[] = {make_queue(context, devices.front()),
                                     make_queue(context, devices.back())};
  const char* source = kSource;
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  check(status, "clCreateProgramWithSource");
  check(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), "clBuildProgram");
  print_what_stays(program, queues[0]);
  cl_kernel kernel = clCreateKernel(program, "add_one", &status);
  check(status, "clCreateKernel");
  const std::size_t bytes = mib << 20U;
  const std::size_t count = bytes / sizeof(cl_uint);
  std::vector<cl_uint> numbers(count, 1);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  check(status, "clCreateBuffer");
  const cl_uint step = 1;
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof step, &step), "clSetKernelArg");
  check(clEnqueueWriteBuffer(queues[0], buffer, CL_TRUE, 0, bytes, numbers.data(), 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  std::thread other;
  if (thread) other = std::thread([&] { check(clFinish(queues[1]), "clFinish"); });
  for (std::size_t round = 0; round < rounds; ++round) {
    for (cl_command_queue queue : queues) {
      check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &count, nullptr, 0, nullptr, nullptr),
            "clEnqueueNDRangeKernel");
      check(clFinish(queue), "clFinish");
    }
  }
  if (other.joinable()) other.join();
  check(clEnqueueReadBuffer(queues[1], buffer, CL_TRUE, 0, bytes, numbers.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  for (const cl_uint number : numbers) {
    if (number == 1 + 2 * rounds) continue;
    std::puts("wrong result");
    return 2;
  }
  std::puts("right");
  std::fflush(stdout);
  if (killed) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    std::raise(SIGKILL);
  }
  return 0;
}
