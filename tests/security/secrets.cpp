// A program whose source, names and data nobody in the network may learn, and whose results nobody may
// change: everything that travels is marked with "secret". It computes on every device of the platform in
// turn, so that data travels between nodes, too.
//
// Use: security_secrets ROUNDS
//
// Exit status: 0 right; 1 a call failed, which is printed; 2 wrong result; 3 no device.
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "program.hpp"

namespace {

using program::all_devices;
using program::check;

constexpr const char* kSource =
    "#include \"secret_file.h\"\n"
    "kernel void secret_kernel(global uchar* data) { // a secret remark\n"
    "  data[get_global_id(0)] += SECRET_STEP;\n"
    "}\n";
/// Far more than travels among the commands.
constexpr std::size_t kSize = 6U << 20U;
constexpr char kData[] = "secret data that fills a buffer ";

cl_kernel build(cl_context context) {
  cl_int status = CL_SUCCESS;
  const char* source = kSource;
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  check(status, "clCreateProgramWithSource");
  check(clBuildProgram(program, 0, nullptr, "-I . -DSECRET_OPTION=1", nullptr, nullptr), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "secret_kernel", &status);
  check(status, "clCreateKernel");
  return kernel;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  const std::vector<cl_device_id> devices = all_devices();
  cl_int status = CL_SUCCESS;
  cl_context context = clCreateContext(nullptr, static_cast<cl_uint>(devices.size()), devices.data(), nullptr,
                                       nullptr, &status);
  check(status, "clCreateContext");
  std::vector<cl_command_queue> queues;
  for (cl_device_id device : devices) {
    queues.push_back(clCreateCommandQueueWithProperties(context, device, nullptr, &status));
    check(status, "clCreateCommandQueueWithProperties");
  }
  cl_kernel kernel = build(context);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, kSize, nullptr, &status);
  check(status, "clCreateBuffer");
  check(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), "clSetKernelArg");

  std::vector<char> data(kSize);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < kSize; ++i) data[i] = kData[i % (sizeof kData - 1)];
    std::vector<char> expected = data;
    check(clEnqueueWriteBuffer(queues[0], buffer, CL_FALSE, 0, kSize, data.data(), 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
    check(clFinish(queues[0]), "clFinish");
    // The first device does what the header says, the second one undoes it, and so on.
    for (std::size_t i = 0; i < 2 * queues.size(); ++i) {
      check(clEnqueueNDRangeKernel(queues[i % queues.size()], kernel, 1, nullptr, &kSize, nullptr, 0, nullptr,
                                   nullptr),
            "clEnqueueNDRangeKernel");
      check(clFinish(queues[i % queues.size()]), "clFinish");
      for (char& one : expected) one = static_cast<char>(one + 128);
    }
    check(clEnqueueReadBuffer(queues.back(), buffer, CL_TRUE, 0, kSize, data.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    if (data != expected) {
      std::puts("wrong result");
      return 2;
    }
  }
  std::puts("right");
  return 0;
}
