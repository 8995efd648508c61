// A program that is built with -clique-check-footprints: parts of its launches fail if they access what is
// not expected of them. Wants the combined device to be the first device,
// CLIQUE_COMBINE_DIVIDE=always, and members that check accesses: NVIDIA GPUs through CUDA, or the fake one,
// which knows this kernel by its name.
#include <string>
#include <vector>

#include "cluster/combined/complaints.hpp"
#include "program.hpp"

namespace {

using clique::test::division::Complaints;
using program::check;

constexpr const char* kSource = R"(
kernel void neighbours(global const int* from, global int* to, int count) {
  const int i = get_global_id(0);
  int sum = from[i];
  if (i + 1 < count) sum += from[i + 1];
  to[i] = sum;
}
)";
constexpr size_t kCount = 1024;
constexpr size_t kLocal = 64;

void expect(bool condition, const std::string& what) {
  if (condition) return;
  std::printf("failed: %s\n", what.c_str());
  std::exit(1);
}

struct Outcome {
  cl_int status = CL_SUCCESS;  ///< of the launch's event
  bool right = false;          ///< whether the result is
};

/// Launches the kernel once on a device.
Outcome launch(cl_device_id device, const char* options, Complaints& complaints) {
  Outcome outcome;
  cl_int status = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, 1, &device, &Complaints::note, &complaints, &status);
  check(status, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, nullptr, &status);
  check(status, "clCreateCommandQueueWithProperties");
  const char* source = kSource;
  cl_program built = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  check(status, "clCreateProgramWithSource");
  check(clBuildProgram(built, 1, &device, options, nullptr, nullptr), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(built, "neighbours", &status);
  check(status, "clCreateKernel");
  std::vector<int> numbers(kCount);
  for (size_t i = 0; i < kCount; ++i) numbers[i] = static_cast<int>(i);
  cl_mem from = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, kCount * sizeof(int),
                               numbers.data(), &status);
  check(status, "clCreateBuffer");
  cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE, kCount * sizeof(int), nullptr, &status);
  check(status, "clCreateBuffer");
  const int count = kCount;
  check(clSetKernelArg(kernel, 0, sizeof from, &from), "clSetKernelArg");
  check(clSetKernelArg(kernel, 1, sizeof to, &to), "clSetKernelArg");
  check(clSetKernelArg(kernel, 2, sizeof count, &count), "clSetKernelArg");
  cl_event event = nullptr;
  check(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &kCount, &kLocal, 0, nullptr, &event),
        "clEnqueueNDRangeKernel");
  clWaitForEvents(1, &event);
  check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof outcome.status, &outcome.status,
                       nullptr),
        "clGetEventInfo");
  if (outcome.status == CL_COMPLETE) {
    std::vector<int> sums(kCount);
    check(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, kCount * sizeof(int), sums.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    outcome.right = true;
    for (size_t i = 0; i < kCount; ++i)
      outcome.right = outcome.right && sums[i] == numbers[i] + (i + 1 < kCount ? numbers[i + 1] : 0);
  }
  clFinish(queue);
  clReleaseEvent(event);
  clReleaseMemObject(to);
  clReleaseMemObject(from);
  clReleaseKernel(kernel);
  clReleaseProgram(built);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return outcome;
}

}  // namespace

int main() {
  cl_device_id combined = program::all_devices().front();
  for (const char* options : {"", "-clique-check-footprints"}) {
    Complaints complaints;
    const Outcome plain = launch(combined, options, complaints);
    expect(plain.status == CL_COMPLETE && plain.right && complaints.first().empty(),
           std::string("a launch with the options '") + options + "'");
  }
  // The last number that each part uses is not expected of it.
  Complaints complaints;
  const Outcome outcome = launch(combined, "-clique-check-footprints=4", complaints);
  expect(outcome.status == CL_INVALID_OPERATION, "the status is " + std::to_string(outcome.status));
  constexpr const char* kPlace = "kernel 'neighbours' reads 4 bytes at offset 4092 of argument 0";
  expect(complaints.mention(kPlace), std::string("nobody says: ") + kPlace);
  std::puts("all as expected");
  return 0;
}
