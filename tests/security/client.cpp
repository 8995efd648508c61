// A well-behaved program: computes something on the first device of the platform, and checks the result.
// Use: security_client [--bytes N [--buffers N]] [--transfer N] [--hold] [--busy] [--enqueue N]
//   --bytes N     first allocates a buffer of N bytes, and writes to it
//   --buffers N   so many of them, all at the same time
//   --transfer N  writes N bytes to the first device, copies them on the last one, and reads them
//   --hold        prints "ready", and exits at the end of its standard input
//   --busy        the same, and computes again and again until then
//   --enqueue N   first enqueues N commands behind a user event and prints "ready"; completes the event at
//                 the first line of its standard input, prints "finished" when the commands have ended, and
//                 goes on at the next line
// Exit status: 0 right; 1 a call failed, which is printed; 2 wrong result; 3 no device.
#include <CL/cl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string_view>
#include <vector>

#include "program.hpp"

namespace {

using program::all_devices;
using program::check;

constexpr const char* kSource =
    "kernel void twice(global uint* data) { data[get_global_id(0)] = 2 * data[get_global_id(0)]; }";

void use_memory(cl_context context, cl_command_queue queue, std::size_t bytes, std::size_t count) {
  std::vector<cl_mem> buffers;
  for (std::size_t i = 0; i < count; ++i) {
    cl_int status = CL_SUCCESS;
    buffers.push_back(clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status));
    check(status, "clCreateBuffer");
    const cl_uint one = 1;
    check(clEnqueueFillBuffer(queue, buffers.back(), &one, sizeof one, 0, bytes, 0, nullptr, nullptr),
          "clEnqueueFillBuffer");
    check(clFinish(queue), "clFinish");
  }
  for (cl_mem buffer : buffers) clReleaseMemObject(buffer);
}

/// Writes to the first device, copies on the last one, and reads from there.
bool transfer(std::size_t bytes) {
  const std::vector<cl_device_id> devices = all_devices();
  const std::vector<cl_device_id> ends{devices.front(), devices.back()};
  cl_int status = CL_SUCCESS;
  cl_context context =
      clCreateContext(nullptr, devices.size() > 1 ? 2 : 1, ends.data(), nullptr, nullptr, &status);
  check(status, "clCreateContext");
  cl_command_queue first = clCreateCommandQueueWithProperties(context, ends.front(), nullptr, &status);
  check(status, "clCreateCommandQueueWithProperties");
  cl_command_queue last = clCreateCommandQueueWithProperties(context, ends.back(), nullptr, &status);
  check(status, "clCreateCommandQueueWithProperties");
  std::vector<unsigned char> there(bytes);
  std::iota(there.begin(), there.end(), static_cast<unsigned char>(1));
  std::vector<unsigned char> back(bytes);
  cl_mem from = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  check(status, "clCreateBuffer");
  cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  check(status, "clCreateBuffer");
  check(clEnqueueWriteBuffer(first, from, CL_TRUE, 0, bytes, there.data(), 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  check(clEnqueueCopyBuffer(last, from, to, 0, 0, bytes, 0, nullptr, nullptr), "clEnqueueCopyBuffer");
  check(clEnqueueReadBuffer(last, to, CL_TRUE, 0, bytes, back.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  return there == back;
}

void await_line() {
  for (int character = 0; character != '\n' && character != EOF;) character = std::getchar();
}

void say(const char* line) {
  std::puts(line);
  std::fflush(stdout);
}

/// Has commands wait for a user event until there is a line, and waits for another one when they have ended.
void hold_back(cl_context context, cl_command_queue queue, std::size_t count) {
  cl_int status = CL_SUCCESS;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(cl_uint), nullptr, &status);
  check(status, "clCreateBuffer");
  cl_event go = clCreateUserEvent(context, &status);
  check(status, "clCreateUserEvent");
  const cl_uint one = 1;
  for (std::size_t i = 0; i < count; ++i)
    check(clEnqueueFillBuffer(queue, buffer, &one, sizeof one, 0, sizeof one, i == 0 ? 1 : 0,
                              i == 0 ? &go : nullptr, nullptr),
          "clEnqueueFillBuffer");
  check(clFlush(queue), "clFlush");
  say("ready");
  await_line();
  check(clSetUserEventStatus(go, CL_COMPLETE), "clSetUserEventStatus");
  check(clFinish(queue), "clFinish");
  say("finished");
  await_line();
  clReleaseEvent(go);
  clReleaseMemObject(buffer);
}

bool compute(cl_context context, cl_command_queue queue, cl_device_id device) {
  constexpr std::size_t kCount = 1024;
  std::vector<cl_uint> data(kCount);
  std::iota(data.begin(), data.end(), 1U);
  cl_int status = CL_SUCCESS;
  const char* source = kSource;
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  check(status, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "twice", &status);
  check(status, "clCreateKernel");
  constexpr std::size_t kBytes = kCount * sizeof(cl_uint);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, kBytes, data.data(), &status);
  check(status, "clCreateBuffer");
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &kCount, nullptr, 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel");
  check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, kBytes, data.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  for (std::size_t i = 0; i < kCount; ++i)
    if (data[i] != 2 * (i + 1)) return false;
  return true;
}

/// Looks once, and waits for a moment.
bool input_ended() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char byte = 0;
  return ::poll(&input, 1, 10) == 1 && ::read(STDIN_FILENO, &byte, 1) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  bool hold = false;
  bool busy = false;
  std::size_t bytes = 0;
  std::size_t buffers = 1;
  std::size_t transferred = 0;
  std::size_t enqueued = 0;
  for (int i = 1; i < argc; ++i) {
    busy = busy || std::string_view(argv[i]) == "--busy";
    hold = hold || busy || std::string_view(argv[i]) == "--hold";
    if (std::string_view(argv[i]) == "--bytes" && i + 1 < argc) bytes = std::strtoull(argv[++i], nullptr, 10);
    if (std::string_view(argv[i]) == "--buffers" && i + 1 < argc)
      buffers = std::strtoull(argv[++i], nullptr, 10);
    if (std::string_view(argv[i]) == "--transfer" && i + 1 < argc)
      transferred = std::strtoull(argv[++i], nullptr, 10);
    if (std::string_view(argv[i]) == "--enqueue" && i + 1 < argc)
      enqueued = std::strtoull(argv[++i], nullptr, 10);
  }
  cl_device_id device = all_devices().front();
  cl_int status = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  check(status, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, nullptr, &status);
  check(status, "clCreateCommandQueueWithProperties");
  if (enqueued > 0) hold_back(context, queue, enqueued);
  if (bytes > 0) use_memory(context, queue, bytes, buffers);
  if (!compute(context, queue, device)) {
    std::puts("wrong result");
    return 2;
  }
  if (transferred > 0 && !transfer(transferred)) {
    std::puts("wrong result");
    return 2;
  }
  if (hold) {
    say("ready");
    while (busy && !input_ended())
      if (!compute(context, queue, device)) return 2;
    while (!busy && std::getchar() != EOF) {
    }
  }
  std::puts("right");
  return 0;
}
