// A program whose kernels only compute. Prints "ready", and runs kernels, several of which are always
// enqueued, until its standard input ends; then it prints how many have ended. Exit status: 0, unless a call
// failed, which is printed.
#include <CL/cl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <deque>

#include "program.hpp"

namespace {

using program::all_devices;
using program::check;

constexpr const char* kBurnSource = R"(
kernel void burn(global float* to) {
  float a = get_global_id(0) * 1e-6f;
  for (int i = 0; i < 20000; ++i) a = fma(a, 0.999f, 0.5f);
  to[get_global_id(0)] = a;
})";

bool no_more_input() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char byte = 0;
  return ::poll(&input, 1, 0) == 1 && ::read(STDIN_FILENO, &byte, 1) == 0;
}

}  // namespace

int main() {
  constexpr std::size_t kItems = 64;
  constexpr std::size_t kKernelsAhead = 4;
  cl_device_id device = all_devices().front();
  cl_int status = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, nullptr, &status);
  check(status, "clCreateCommandQueueWithProperties");
  const char* source = kBurnSource;
  cl_program built = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  check(status, "clCreateProgramWithSource");
  check(clBuildProgram(built, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(built, "burn", &status);
  check(status, "clCreateKernel");
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, kItems * sizeof(cl_float), nullptr, &status);
  check(status, "clCreateBuffer");
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
  std::deque<cl_event> ahead;
  const auto launch = [&] {
    check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &kItems, nullptr, 0, nullptr,
                                 &ahead.emplace_back()),
          "clEnqueueNDRangeKernel");
  };
  const auto wait = [&] {
    check(clWaitForEvents(1, &ahead.front()), "clWaitForEvents");
    check(clReleaseEvent(ahead.front()), "clReleaseEvent");
    ahead.pop_front();
  };
  launch();
  wait();
  std::puts("ready");
  std::fflush(stdout);
  unsigned long ended = 0;
  for (; !no_more_input(); ++ended) {
    while (ahead.size() < kKernelsAhead) launch();
    wait();
  }
  while (!ahead.empty()) wait();
  std::printf("%lu\n", ended);
  return 0;
}
