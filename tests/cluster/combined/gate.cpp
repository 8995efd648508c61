// Launches that are divided only if that pays: how fast content moves is measured before much of it does.
// Wants CLIQUE_COMBINE=all, CLIQUE_COMBINE_EXPLAIN=1 and CLIQUE_SHARED_MEMORY=0.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <CL/opencl.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "cluster/combined/explanations.hpp"

namespace clique::test::division {

namespace {

constexpr std::size_t kItems = 4096;
/// Much more than what moves to be measured.
constexpr std::size_t kTable = std::size_t{16} << 20U;
constexpr unsigned kTurns = 20;
constexpr int kMostLaunches = 100;

/// Each work-item may read any integer of the table.
constexpr const char* kSource = R"(
__kernel void look_up(__global const uint* table, __global uint* result) {
  uint x = get_global_id(0);
  for (uint turn = 0; turn < TURNS; ++turn) x = table[x & (TABLE - 1)] + turn;
  result[get_global_id(0)] = x;
}
)";

std::vector<cl_uint> expected(const std::vector<cl_uint>& table) {
  std::vector<cl_uint> result(kItems);
  for (cl_uint i = 0; i < kItems; ++i) {
    cl_uint x = i;
    for (cl_uint turn = 0; turn < kTurns; ++turn) x = table[x & (kTable - 1)] + turn;
    result[i] = x;
  }
  return result;
}

int run() {
  const Explanations explanations;
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  platforms.at(0).getDevices(CL_DEVICE_TYPE_ALL, &devices);
  const cl::Device& device = devices.at(0);
  const cl::Context context(device);
  const cl::CommandQueue queue(context, device);
  cl::Program program(context, kSource);
  const std::string options = "-DTURNS=" + std::to_string(kTurns) + " -DTABLE=" + std::to_string(kTable);
  program.build(options.c_str());
  cl::Kernel kernel(program, "look_up");

  std::vector<cl_uint> table(kTable);
  cl_uint next = 1;
  for (cl_uint& each : table) each = next = next * 1664525U + 1013904223U;
  const cl::Buffer of_table(context, CL_MEM_READ_ONLY, kTable * sizeof(cl_uint));
  const cl::Buffer of_result(context, CL_MEM_WRITE_ONLY, kItems * sizeof(cl_uint));
  queue.enqueueWriteBuffer(of_table, CL_TRUE, 0, kTable * sizeof(cl_uint), table.data());
  kernel.setArg(0, of_table);
  kernel.setArg(1, of_result);

  int launches = 0;
  const std::vector<cl_uint> right = expected(table);
  std::vector<cl_uint> result(kItems);
  while (explanations.count("content moves among the members of Clique") == 0) {
    if (++launches > kMostLaunches) throw std::runtime_error("no launch knows how fast content moves");
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, kItems, 64);
    queue.enqueueReadBuffer(of_result, CL_TRUE, 0, kItems * sizeof(cl_uint), result.data());
    if (result != right) throw std::runtime_error("a wrong result of launch " + std::to_string(launches));
  }
  std::printf("measured after %d launches\n", launches);
  return EXIT_SUCCESS;
}

}  // namespace

}  // namespace clique::test::division

int main() {
  try {
    return clique::test::division::run();
  } catch (const std::exception& error) {
    std::printf("gate_tests: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
