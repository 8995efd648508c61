// Kernels whose work-groups copy between global and local memory, on a combined device: which launches are
// divided, and their results. Wants CLIQUE_COMBINE=all, CLIQUE_COMBINE_DIVIDE=always and
// CLIQUE_COMBINE_EXPLAIN=1.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <CL/opencl.hpp>

#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cluster/combined/explanations.hpp"

namespace clique::test::division {

namespace {

constexpr int kItems = 1024;
constexpr int kGroup = 16;
/// Of each buffer.
constexpr int kElements = 4 * kItems;
/// What `to` contains before a launch.
constexpr int kUntouched = -1;

struct Case {
  const char* name;
  /// Of a kernel with the arguments `from`, `to` and `count`, which is kGroup, and with `shared`, local
  /// memory for 64 integers, and `group` and `item`, ids.
  const char* body;
  /// What the library says of the launch.
  const char* said;
  /// The element of `to` after the launch. `from` contains the numbers from 0.
  std::function<int(int)> expected;
};

const Case kCases[] = {
    {"both_ways",
     "event_t e = async_work_group_copy(shared, from + group * count, count, 0);\n"
     "wait_group_events(1, &e); shared[item] *= 2; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "e = async_work_group_copy(to + group * count, shared, count, 0); wait_group_events(1, &e);",
     "divided into 3 parts", [](int i) { return i < kItems ? 2 * i : kUntouched; }},
    {"vectors",
     "event_t e = async_work_group_copy((__local int4*)shared, (__global int4*)from + group * count, count, "
     "0);\n"
     "wait_group_events(1, &e); shared[4 * item + 3] += 1; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "e = async_work_group_copy((__global int4*)to + group * count, (__local int4*)shared, count, 0);\n"
     "wait_group_events(1, &e);",
     "divided into 3 parts", [](int i) { return i + (i % 4 == 3 ? 1 : 0); }},
    {"strides",
     "event_t e = async_work_group_strided_copy(shared, from + 3 * group * count, count, 3, 0);\n"
     "wait_group_events(1, &e);\n"
     "e = async_work_group_strided_copy(to + 2 * group * count, shared, count, 2, 0); wait_group_events(1, "
     "&e);",
     "divided into 3 parts", [](int i) { return i < 2 * kItems && i % 2 == 0 ? i / 2 * 3 : kUntouched; }},
    {"neighbours",
     "event_t e = async_work_group_copy(shared, from + group * count, 2 * count, 0);\n"
     "wait_group_events(1, &e); to[group * count + item] = shared[item + count];",
     "divided into 3 parts", [](int i) { return i < kItems ? i + kGroup : kUntouched; }},
    {"count_from_data",
     "event_t e = async_work_group_copy(shared, from + group * count, from[kind], 0);\n"
     "wait_group_events(1, &e); to[group * count + item] = shared[item];",
     "divided into 3 parts", [](int i) { return i < kItems ? i : kUntouched; }},
    {"overlapping_writes",
     "shared[item] = shared[item + count] = 7; barrier(CLK_LOCAL_MEM_FENCE);\n"
     "event_t e = async_work_group_copy(to + group * count, shared, count + 1, 0); wait_group_events(1, &e);",
     "several parts may write the same bytes of argument 1",
     [](int i) { return i <= kItems ? 7 : kUntouched; }},
};

void run(const cl::Context& context, const cl::Device& device, const Explanations& said, const Case& each) {
  const std::string source = std::string("__kernel void ") + each.name +
                             "(__global int* from, __global int* to, int count, int kind) {\n"
                             "__local int shared[64];\n"
                             "const int group = get_group_id(0), item = get_local_id(0);\n" +
                             each.body + "\n}\n";
  cl::Program program(context, source);
  program.build(device);
  std::vector<int> from(kElements);
  for (int i = 0; i < kElements; ++i) from[static_cast<std::size_t>(i)] = i;
  std::vector<int> to(kElements, kUntouched);
  const std::size_t bytes = kElements * sizeof(int);
  const cl::Buffer from_buffer(context, CL_MEM_COPY_HOST_PTR, bytes, from.data());
  const cl::Buffer to_buffer(context, CL_MEM_COPY_HOST_PTR, bytes, to.data());
  cl::Kernel kernel(program, each.name);
  kernel.setArg(0, from_buffer);
  kernel.setArg(1, to_buffer);
  kernel.setArg(2, kGroup);
  kernel.setArg(3, kGroup);
  cl::CommandQueue queue(context, device);
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, kItems, kGroup);
  queue.enqueueReadBuffer(to_buffer, CL_TRUE, 0, bytes, to.data());
  for (int i = 0; i < kElements; ++i)
    if (const int got = to[static_cast<std::size_t>(i)]; got != each.expected(i))
      throw std::runtime_error(std::string("kernel ") + each.name + ": element " + std::to_string(i) +
                               " is " + std::to_string(got) + " instead of " +
                               std::to_string(each.expected(i)));
  if (said.count(std::string("kernel ") + each.name + ",", each.said) != 1)
    throw std::runtime_error(std::string("kernel ") + each.name + ": the library did not say '" + each.said +
                             "'");
}

}  // namespace

}  // namespace clique::test::division

int main() {
  using namespace clique::test::division;
  try {
    const Explanations said;
    std::vector<cl::Platform> platforms;
    cl::Platform::get(&platforms);
    std::vector<cl::Device> devices;
    platforms.at(0).getDevices(CL_DEVICE_TYPE_ALL, &devices);
    const cl::Context context(devices.at(0));
    for (const Case& each : kCases) run(context, devices.at(0), said, each);
    std::puts("all as expected");
    return 0;
  } catch (const std::exception& error) {
    std::printf("failed: %s\n", error.what());
    return 1;
  }
}
