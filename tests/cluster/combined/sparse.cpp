// Buffers of a combined device that are larger than what one of its members has room for. Wants the combined
// device to be the first one, CLIQUE_COMBINE_EXPLAIN=1, and members with sparse buffers: NVIDIA GPUs through
// CUDA, or the fake one, which knows these kernels by their names.
#include <algorithm>
#include <cstring>
#include <vector>

#include "cluster/combined/explanations.hpp"
#include "program.hpp"

namespace {

using program::check;

constexpr const char* kSource = R"(
kernel void add(global int* numbers, int amount) { numbers[get_global_id(0)] += amount; }
kernel void neighbours(global const int* from, global int* to, int count) {
  const int i = get_global_id(0);
  int sum = from[i];
  if (i + 1 < count) sum += from[i + 1];
  to[i] = sum;
}
kernel void scatter(global int* numbers, global const int* places) {
  numbers[places[get_global_id(0)]] = 1;
}
)";
constexpr size_t kLocal = 64;

void expect(bool condition, const char* what) {
  if (condition) return;
  std::printf("failed: %s\n", what);
  std::exit(1);
}

template <typename T>
T info(cl_device_id device, cl_device_info name) {
  T value{};
  check(clGetDeviceInfo(device, name, sizeof value, &value, nullptr), "clGetDeviceInfo");
  return value;
}

class Machine {
 public:
  Machine(cl_device_id device, cl_command_queue_properties properties) {
    cl_int status = CL_SUCCESS;
    context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    check(status, "clCreateContext");
    const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, properties, 0};
    queue_ = clCreateCommandQueueWithProperties(context_, device, list, &status);
    check(status, "clCreateCommandQueueWithProperties");
    const char* source = kSource;
    program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, &status);
    check(status, "clCreateProgramWithSource");
    check(clBuildProgram(program_, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  }
  ~Machine() {
    clReleaseProgram(program_);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  cl_context context() const { return context_; }
  cl_command_queue queue() const { return queue_; }
  cl_mem buffer(size_t size, const void* content = nullptr) const {
    cl_int status = CL_SUCCESS;
    const cl_mem_flags flags =
        content != nullptr ? CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR : cl_mem_flags{CL_MEM_READ_WRITE};
    cl_mem made = clCreateBuffer(context_, flags, size, const_cast<void*>(content), &status);
    check(status, "clCreateBuffer");
    return made;
  }
  template <typename... Args>
  cl_int launch(const char* name, size_t global, const Args&... args) const {
    cl_int status = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program_, name, &status);
    check(status, "clCreateKernel");
    cl_uint index = 0;
    (check(clSetKernelArg(kernel, index++, sizeof args, &args), "clSetKernelArg"), ...);
    status = clEnqueueNDRangeKernel(queue_, kernel, 1, nullptr, &global, &kLocal, 0, nullptr, nullptr);
    clReleaseKernel(kernel);
    return status;
  }

 private:
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_program program_ = nullptr;
};

int number(size_t i) {
  return static_cast<int>(i % 100'003);
}

std::vector<int> numbers(size_t count) {
  std::vector<int> result(count);
  for (size_t i = 0; i < count; ++i) result[i] = number(i);
  return result;
}

void expect_numbers(const Machine& on, cl_mem buffer, const std::vector<int>& expected, const char* what) {
  std::vector<int> got(expected.size());
  check(clEnqueueReadBuffer(on.queue(), buffer, CL_TRUE, 0, got.size() * sizeof(int), got.data(), 0, nullptr,
                            nullptr),
        "clEnqueueReadBuffer");
  const auto [wrong, right] = std::mismatch(got.begin(), got.end(), expected.begin());
  if (wrong == got.end()) return;
  std::printf("failed: %s: number %td is %d instead of %d\n", what, wrong - got.begin(), *wrong, *right);
  std::exit(1);
}

/// One buffer of 1.5 times the room of a member.
void use_one(cl_device_id device, size_t room, cl_command_queue_properties properties) {
  const Machine on(device, properties);
  const size_t count = room / 2 * 3 / sizeof(int) / kLocal * kLocal;
  const size_t size = count * sizeof(int);
  std::vector<int> expected = numbers(count);
  cl_mem buffer = on.buffer(size);
  // Written in two pieces, one of which not all of a member's share.
  const size_t first = count / 3;
  check(clEnqueueWriteBuffer(on.queue(), buffer, CL_TRUE, 0, first * sizeof(int), expected.data(), 0, nullptr,
                             nullptr),
        "clEnqueueWriteBuffer");
  check(clEnqueueWriteBuffer(on.queue(), buffer, CL_TRUE, first * sizeof(int), size - first * sizeof(int),
                             expected.data() + first, 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  for (int step = 1; step <= 3; ++step) {
    check(on.launch("add", count, buffer, step), "clEnqueueNDRangeKernel");
    for (int& each : expected) each += step;
  }
  expect_numbers(on, buffer, expected, "numbers after additions");

  const cl_int pattern[] = {7, 8};
  const size_t begin = count / 4 / 2 * 2;
  const size_t filled = count / 2 / 2 * 2;
  check(clEnqueueFillBuffer(on.queue(), buffer, pattern, sizeof pattern, begin * sizeof(int),
                            filled * sizeof(int), 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
  for (size_t i = 0; i < filled; ++i) expected[begin + i] = pattern[i % 2];
  check(clEnqueueCopyBuffer(on.queue(), buffer, buffer, (count - 1000) * sizeof(int), 0, 1000 * sizeof(int),
                            0, nullptr, nullptr),
        "clEnqueueCopyBuffer");
  std::copy(expected.end() - 1000, expected.end(), expected.begin());
  check(on.launch("add", count, buffer, 5), "clEnqueueNDRangeKernel");
  for (int& each : expected) each += 5;
  expect_numbers(on, buffer, expected, "numbers after a fill and a copy");

  cl_int status = CL_SUCCESS;
  const size_t middle = count / 2 - 5000;
  auto* mapped = static_cast<int*>(clEnqueueMapBuffer(on.queue(), buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                                      middle * sizeof(int), 10'000 * sizeof(int), 0, nullptr,
                                                      nullptr, &status));
  check(status, "clEnqueueMapBuffer");
  for (size_t i = 0; i < 10'000; ++i) {
    expect(mapped[i] == expected[middle + i], "mapped numbers");
    expected[middle + i] = mapped[i] = -1;
  }
  check(clEnqueueUnmapMemObject(on.queue(), buffer, mapped, 0, nullptr, nullptr), "clEnqueueUnmapMemObject");
  cl_int one = 0;
  check(clEnqueueReadBuffer(on.queue(), buffer, CL_TRUE, size - sizeof one, sizeof one, &one, 0, nullptr,
                            nullptr),
        "clEnqueueReadBuffer");
  expect(one == expected.back(), "the last number");
  expect_numbers(on, buffer, expected, "numbers after a map");

  // A kernel that writes anywhere is not divided, and needs all of the buffer.
  cl_mem places = on.buffer(kLocal * 2 * sizeof(int));
  expect(on.launch("scatter", kLocal * 2, buffer, places) == CL_MEM_OBJECT_ALLOCATION_FAILURE,
         "a launch that needs all of the buffer fails");
  clReleaseMemObject(places);

  const cl_image_format format{CL_R, CL_SIGNED_INT32};
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
  desc.image_width = 64;
  desc.mem_object = buffer;
  cl_mem image = clCreateImage(on.context(), CL_MEM_READ_WRITE, &format, &desc, nullptr, &status);
  expect(image == nullptr && status == CL_MEM_OBJECT_ALLOCATION_FAILURE, "there is no image of the buffer");
  clReleaseMemObject(buffer);
}

/// Two buffers, which take turns, so that a number of each member's part moves with each step.
void use_two(cl_device_id device, size_t room, cl_command_queue_properties properties) {
  const Machine on(device, properties);
  const size_t count = room / 4 * 3 / sizeof(int) / kLocal * kLocal;
  std::vector<int> expected = numbers(count);
  cl_mem from = on.buffer(count * sizeof(int), expected.data());
  cl_mem to = on.buffer(count * sizeof(int));
  const auto as_int = static_cast<cl_int>(count);
  for (int step = 0; step < 4; ++step) {
    check(on.launch("neighbours", count, from, to, as_int), "clEnqueueNDRangeKernel");
    for (size_t i = 0; i + 1 < count; ++i) expected[i] += expected[i + 1];
    std::swap(from, to);
  }
  expect_numbers(on, from, expected, "sums of neighbours");
  // The copy goes where the content is.
  check(clEnqueueCopyBuffer(on.queue(), from, to, 0, 0, count * sizeof(int), 0, nullptr, nullptr),
        "clEnqueueCopyBuffer");
  expect_numbers(on, to, expected, "copied numbers");
  clReleaseMemObject(from);
  clReleaseMemObject(to);
}

/// A divided launch and a fill for which a member has no memory left, since another context uses it. Nobody
/// has their events.
void use_too_much(cl_device_id device, cl_device_id member, size_t room) {
  const Machine other(member, 0);
  const std::vector<int> content(room / 2 / sizeof(int));
  cl_mem taken = other.buffer(room / 2);
  check(clEnqueueWriteBuffer(other.queue(), taken, CL_TRUE, 0, room / 2, content.data(), 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");

  const Machine on(device, 0);
  const size_t count = room / 2 * 3 / sizeof(int) / kLocal * kLocal;
  cl_mem buffer = on.buffer(count * sizeof(int));
  check(on.launch("add", count, buffer, 1), "clEnqueueNDRangeKernel");
  expect(clFinish(on.queue()) == CL_MEM_OBJECT_ALLOCATION_FAILURE, "clFinish tells that a part has failed");
  check(clFinish(on.queue()), "clFinish");
  const cl_int zero = 0;
  check(clEnqueueFillBuffer(on.queue(), buffer, &zero, sizeof zero, 0, count * sizeof(int), 0, nullptr,
                            nullptr),
        "clEnqueueFillBuffer");
  expect(clFinish(on.queue()) == CL_MEM_OBJECT_ALLOCATION_FAILURE, "clFinish tells that a fill has failed");
  clReleaseMemObject(buffer);
  clReleaseMemObject(taken);
}

}  // namespace

int main() {
  setvbuf(stdout, nullptr, _IONBF, 0);
  const clique::test::division::Explanations said;
  cl_device_id device = program::all_devices().front();
  const auto largest = info<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  const auto all = info<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  cl_ulong least = ~cl_ulong{0};
  cl_ulong sum = 0;
  cl_ulong members = 0;
  for (cl_device_id member : program::all_devices()) {
    if (member == device) continue;
    ++members;
    least = std::min(least, info<cl_ulong>(member, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
    sum += info<cl_ulong>(member, CL_DEVICE_GLOBAL_MEM_SIZE);
  }
  expect(members >= 2, "the first device is a combined one, and its members follow");
  expect(all == sum, "the memory is the sum of the members'");
  expect(largest > members * least / 8 * 7 && largest <= members * least,
         "the largest buffer has as much on each member");
  use_one(device, least, 0);
  use_two(device, least, CL_QUEUE_PROFILING_ENABLE);
  use_too_much(device, program::all_devices().at(2), least);
  expect(said.count("kernel add", "divided into") > 0, "additions are divided at once");
  expect(said.count("kernel neighbours", "divided into") > 0, "sums of neighbours are divided at once");
  std::puts("ok");
  return 0;
}
