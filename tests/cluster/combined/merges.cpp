// Atomic operations on a combined device: all kinds that are merged, of which two launches run at the same
// time, and kernels that have to run whole. Results are compared with those of a computation on the host.
// Wants CLIQUE_COMBINE=all, CLIQUE_COMBINE_DIVIDE=always and CLIQUE_COMBINE_EXPLAIN=1.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include <CL/opencl.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "cluster/combined/explanations.hpp"

namespace clique::test::division {

namespace {

constexpr std::size_t kItems = 4096;
constexpr std::size_t kGroup = 64;
constexpr std::size_t kBins = 64;
/// Integers of the buffer before the sub-buffer that kernels change, and after it.
constexpr std::size_t kBefore = 512;
constexpr std::size_t kAfter = 8;

class Failed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

std::vector<std::uint8_t> places() {
  std::vector<std::uint8_t> data(kItems);
  for (std::size_t i = 0; i < kItems; ++i) data[i] = static_cast<std::uint8_t>(i * 37 % 251 % kBins);
  return data;
}

/// A combined device.
class Machine {
 public:
  explicit Machine(cl::Device device)
      : device_(std::move(device)),
        context_(device_),
        queue_(context_, device_, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) {}

  cl::Kernel kernel(const std::string& name, const std::string& body, const std::string& type) const {
    const std::string source =
        "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
        "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n"
        "__kernel void " +
        name + "(__global const uchar* data, volatile __global " + type + "* a, volatile __global " + type +
        "* b) {\n  int i = get_global_id(0);\n  " + body + "\n}\n";
    cl::Program program(context_, source);
    program.build(device_, "-cl-std=CL3.0");
    return {program, name.c_str()};
  }
  template <typename T>
  cl::Buffer upload(const std::vector<T>& content) const {
    return {context_, CL_MEM_COPY_HOST_PTR, content.size() * sizeof(T), const_cast<T*>(content.data())};
  }
  /// Two launches, in any order.
  void launch_twice(const cl::Kernel& kernel) const {
    std::vector<cl::Event> both(2);
    for (cl::Event& each : both)
      queue_.enqueueNDRangeKernel(kernel, cl::NullRange, kItems, kGroup, nullptr, &each);
    cl::Event::waitForEvents(both);
  }
  template <typename T>
  std::vector<T> download(const cl::Buffer& buffer, std::size_t count) const {
    std::vector<T> content(count);
    queue_.enqueueReadBuffer(buffer, CL_TRUE, 0, count * sizeof(T), content.data());
    return content;
  }

 private:
  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
};

template <typename T>
void require_equal(const std::string& kernel, const std::vector<T>& got, const std::vector<T>& expected) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i] != expected[i])
      throw Failed("kernel " + kernel + ": element " + std::to_string(i) + " is " + std::to_string(got[i]) +
                   " instead of " + std::to_string(expected[i]));
}

template <typename T>
T applied(const std::string& operation, T a, T b) {
  using Unsigned = std::make_unsigned_t<T>;
  if (operation == "add") return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
  if (operation == "sub") return static_cast<T>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b));
  if (operation == "min") return std::min(a, b);
  if (operation == "max") return std::max(a, b);
  if (operation == "and") return a & b;
  return operation == "or" ? a | b : a ^ b;
}

/// Every operation on a sub-buffer, with numbers whose sums overflow.
template <typename T>
void test_operations(const Machine& machine, const Explanations& said, const std::string& type) {
  const auto data = places();
  const cl::Buffer data_buffer = machine.upload(data);
  for (const char* const operation : {"add", "sub", "min", "max", "and", "or", "xor"}) {
    std::vector<T> content(kBefore + kBins + kAfter);
    for (std::size_t i = 0; i < content.size(); ++i)
      content[i] = static_cast<T>(std::numeric_limits<std::make_unsigned_t<T>>::max() / 5 * (i % 5));
    const cl::Buffer whole = machine.upload(content);
    const cl_buffer_region region{kBefore * sizeof(T), kBins * sizeof(T)};
    cl::Buffer part = cl::Buffer(whole).createSubBuffer(0, CL_BUFFER_CREATE_TYPE_REGION, &region);
    const std::string name = std::string(operation) + "_" + type;
    const std::string function = (sizeof(T) == 8 ? "atom_" : "atomic_") + std::string(operation);
    cl::Kernel kernel = machine.kernel(name,
                                       function + "(a + data[i], ((" + type + ")1 << (i % " +
                                           std::to_string(8 * sizeof(T)) + ")) ^ (" + type + ")i);",
                                       type);
    kernel.setArg(0, data_buffer);
    kernel.setArg(1, part);
    kernel.setArg(2, data_buffer);
    machine.launch_twice(kernel);
    for (unsigned launch = 0; launch < 2; ++launch)
      for (std::size_t i = 0; i < kItems; ++i) {
        T& element = content[kBefore + data[i]];
        const auto operand = static_cast<T>((std::uint64_t{1} << (i % (8 * sizeof(T)))) ^ i);
        element = applied(operation, element, operand);
      }
    require_equal(name, machine.download<T>(whole, content.size()), content);
    if (said.count("kernel " + name + ",", "are merged") != 1)
      throw Failed("kernel " + name + " was not divided, or not merged");
  }
}

/// Several kinds of operations, and kernels whose results are known, but that must not be merged.
void test_other_kernels(const Machine& machine, const Explanations& said) {
  struct Case {
    std::string name;
    std::string body;
    bool twice;  ///< whether both arguments are the same buffer
    std::string reason;
    std::vector<cl_int> a;  ///< what is expected, after two launches
    std::vector<cl_int> b;
  };
  const std::vector<cl_int> none(kItems * 2, 0);
  std::vector<cl_int> counts = none, ones = none, mixed = none, doubled = none;
  for (const std::uint8_t place : places()) {
    counts[place] += 2;
    doubled[place] += 4;
    mixed[place] += 2;
    mixed[kBins + place] = 3;
  }
  std::fill(ones.begin(), ones.end(), 1);
  std::vector<cl_int> counted = none, read = counts, extremes = none;
  extremes[0] = 7 - static_cast<cl_int>(kItems - 1);
  extremes[1] = static_cast<cl_int>(kItems - 1);
  extremes[2] = 2 * kItems;
  counted[0] = 2 * kItems;
  read[kBins] = 7;
  const std::vector<Case> cases{
      {"extremes", "atomic_min(a, 7 - i); atomic_max(a + 1, i); atom_inc((volatile __global long*)a + 1);",
       false, "are merged", extremes, none},
      {"result_used", "b[atomic_inc(a)] = 1;", false, "an atomic operation on global memory", counted, ones},
      {"mixed", "atomic_inc(a + data[i]); atomic_max(a + 64 + data[i], 3);", false, "accesses of other kinds",
       mixed, none},
      {"also_written", "atomic_inc(a + data[i]); if (i == 0) a[64] = 7;", false, "accesses of other kinds",
       read, none},
      {"also_read", "atomic_add(a + data[i], 1 + a[64]);", false, "accesses of other kinds", counts, none},
      {"given_twice", "atomic_inc(a + data[i]); atomic_inc(b + data[i]);", true,
       "another argument has the same bytes", doubled, doubled},
      {"exchanged", "atomic_xchg(a + data[i], 7);", false, "an atomic operation on global memory", {}, none},
  };
  for (const Case& each : cases) {
    const cl::Buffer data = machine.upload(places()), a = machine.upload(none), b = machine.upload(none);
    cl::Kernel kernel = machine.kernel(each.name, each.body, "int");
    kernel.setArg(0, data);
    kernel.setArg(1, a);
    kernel.setArg(2, each.twice ? a : b);
    machine.launch_twice(kernel);
    if (!each.a.empty()) require_equal(each.name, machine.download<cl_int>(a, each.a.size()), each.a);
    if (!each.twice) require_equal(each.name, machine.download<cl_int>(b, each.b.size()), each.b);
    if (said.count("kernel " + each.name + ",", each.reason) != 1)
      throw Failed("what is said of kernel " + each.name + " lacks '" + each.reason + "'");
  }
}

int run() {
  const Explanations said;
  std::vector<cl::Platform> platforms;
  cl::Platform::get(&platforms);
  std::vector<cl::Device> devices;
  platforms.at(0).getDevices(CL_DEVICE_TYPE_ALL, &devices);
  const Machine machine(devices.at(0));
  test_operations<std::int32_t>(machine, said, "int");
  test_operations<std::uint32_t>(machine, said, "uint");
  test_operations<std::int64_t>(machine, said, "long");
  test_operations<std::uint64_t>(machine, said, "ulong");
  test_other_kernels(machine, said);
  std::puts("28 operations and one kernel with several are merged, 6 kernels run whole; none wrong");
  return EXIT_SUCCESS;
}

}  // namespace

}  // namespace clique::test::division

int main() {
  try {
    return clique::test::division::run();
  } catch (const std::exception& error) {
    std::puts(error.what());
    return EXIT_FAILURE;
  }
}
