// The application of the chaos test: an ordinary OpenCL program that uses all devices of the platform until
// its time is over or a call fails. It checks every result. The exit status says what happened.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "api/fixture.hpp"

namespace clique::test::chaos {

namespace {

enum Outcome : int {
  kRight = 0,
  kWrong = 1,   ///< a result was wrong, or something failed that must not fail
  kFailed = 3,  ///< a call failed; afterwards, the remaining devices computed correct results
};

/// Thrown when a call fails.
class Failure : public std::runtime_error {
 public:
  Failure(const char* call, cl_int status)
      : std::runtime_error(std::string(call) + " returned " + std::to_string(status)) {}
};

void check(cl_int status, const char* call) {
  if (status != CL_SUCCESS) throw Failure(call, status);
}
#define CHECK(call) check((call), #call)

/// The object that a call creates. The call's last argument is `&status`.
#define MADE(type, call)        \
  [&] {                         \
    cl_int status = CL_SUCCESS; \
    type made(call);            \
    check(status, #call);       \
    return made;                \
  }()

/// Thrown when a result is wrong.
class Wrong : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr const char* kSource = R"(
kernel void advance_all(global const uint* in, global uint* out, uint factor) {
  size_t i = get_global_id(0);
  out[i] = in[i] * factor + (uint)i;
}
)";

std::vector<cl_device_id> find_devices() {
  cl_uint count = 0;
  CHECK(clGetPlatformIDs(0, nullptr, &count));
  std::vector<cl_platform_id> platforms(count);
  CHECK(clGetPlatformIDs(count, platforms.data(), nullptr));
  for (cl_platform_id platform : platforms) {
    char name[64] = "";
    CHECK(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, nullptr));
    if (std::strstr(name, "Clique") == nullptr) continue;
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count));
    std::vector<cl_device_id> devices(count);
    CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr));
    return devices;
  }
  throw Wrong("no platform is named Clique");
}

bool available(cl_device_id device) {
  cl_bool result = CL_FALSE;
  CHECK(clGetDeviceInfo(device, CL_DEVICE_AVAILABLE, sizeof result, &result, nullptr));
  return result == CL_TRUE;
}

/// The program's objects on some devices, and its computations.
class Work {
 public:
  Work(const std::vector<cl_device_id>& devices, std::uint64_t seed) : random_(seed) {
    const auto count = static_cast<cl_uint>(devices.size());
    context_ = MADE(Context, clCreateContext(nullptr, count, devices.data(), nullptr, nullptr, &status));
    for (cl_device_id device : devices) {
      const cl_queue_properties order =
          queues_.size() % 2 == 0 ? 0 : cl_queue_properties{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE};
      const cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, order, 0};
      queues_.push_back(
          MADE(Queue, clCreateCommandQueueWithProperties(context_, device, properties, &status)));
    }
    const char* source = kSource;
    program_ = MADE(Program, clCreateProgramWithSource(context_, 1, &source, nullptr, &status));
    CHECK(clBuildProgram(program_, 0, nullptr, "", nullptr, nullptr));
    kernel_ = MADE(Kernel, clCreateKernel(program_, "advance_all", &status));
  }

  /// Writes numbers to one device, runs kernels on several, and reads the result from one. If `large`, the
  /// data is transferred beside the commands.
  void chain(bool large) {
    // A fixed size of work-groups, because some drivers compile for each size.
    const std::size_t group = 64;
    const std::size_t count =
        group * (large ? (std::size_t{1} << 14U) + random_() % (std::size_t{3} << 14U) : 1 + random_() % 64);
    std::vector<cl_uint> numbers(count);
    for (cl_uint& number : numbers) number = random_();
    std::vector<cl_uint> results(count, 0);
    const std::size_t bytes = count * sizeof(cl_uint);
    Mem from = MADE(Mem, clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &status));
    Mem to = MADE(Mem, clCreateBuffer(context_, CL_MEM_READ_WRITE, bytes, nullptr, &status));
    // Commands use memory of this function, so that they must complete before it returns.
    const Finish finish{*this};
    // Like programs whose commands wait for something else to happen.
    Event gate;
    if (random_() % 4 == 0) gate = MADE(Event, clCreateUserEvent(context_, &status));
    const Open open{gate};
    Event last;
    CHECK(clEnqueueWriteBuffer(any(), from, CL_FALSE, 0, bytes, numbers.data(), gate.get() != nullptr,
                               gate.get() != nullptr ? gate.ptr() : nullptr, last.out()));
    std::vector<cl_uint> expected = numbers;
    for (unsigned step = 0, steps = 1 + random_() % 4; step < steps; ++step) {
      const cl_uint factor = random_() % 1000;
      CHECK(clSetKernelArg(kernel_, 0, sizeof(cl_mem), from.ptr()));
      CHECK(clSetKernelArg(kernel_, 1, sizeof(cl_mem), to.ptr()));
      CHECK(clSetKernelArg(kernel_, 2, sizeof factor, &factor));
      Event next;
      cl_command_queue queue = any();
      CHECK(clEnqueueNDRangeKernel(queue, kernel_, 1, nullptr, &count, &group, 1, last.ptr(), next.out()));
      CHECK(clFlush(queue));
      last = std::move(next);
      std::swap(from, to);
      for (std::size_t i = 0; i < count; ++i) expected[i] = expected[i] * factor + static_cast<cl_uint>(i);
    }
    if (gate.get() != nullptr) CHECK(clSetUserEventStatus(gate, CL_COMPLETE));
    cl_command_queue queue = any();
    if (random_() % 3 == 0) {
      cl_int status = CL_SUCCESS;
      void* mapped =
          clEnqueueMapBuffer(queue, from, CL_TRUE, CL_MAP_READ, 0, bytes, 1, last.ptr(), nullptr, &status);
      check(status, "clEnqueueMapBuffer");
      std::memcpy(results.data(), mapped, bytes);
      CHECK(clEnqueueUnmapMemObject(queue, from, mapped, 0, nullptr, nullptr));
    } else {
      Event read;
      CHECK(clEnqueueReadBuffer(queue, from, CL_FALSE, 0, bytes, results.data(), 1, last.ptr(), read.out()));
      CHECK(clWaitForEvents(1, read.ptr()));
    }
    if (results != expected) throw Wrong("a chain of " + std::to_string(count) + " numbers is wrong");
  }

 private:
  struct Finish {
    Work& work;
    ~Finish() {
      for (const Queue& queue : work.queues_) clFinish(queue);
    }
  };
  /// Completes the event if a call has failed, so that the commands that wait for it end.
  struct Open {
    const Event& event;
    ~Open() {
      if (event.get() != nullptr) clSetUserEventStatus(event, -1);
    }
  };

  cl_command_queue any() { return queues_[random_() % queues_.size()]; }

  std::mt19937 random_;
  Context context_;
  std::vector<Queue> queues_;
  Program program_;
  Kernel kernel_;
};

using Clock = std::chrono::steady_clock;

/// Checks that devices which are reported as available work. They may fail for a moment, until the report of
/// a recent loss has arrived.
void use_what_is_left(const std::vector<cl_device_id>& devices, std::uint64_t seed) {
  const auto deadline = Clock::now() + std::chrono::seconds(3);
  while (true) {
    std::vector<cl_device_id> left;
    for (cl_device_id device : devices)
      if (available(device)) left.push_back(device);
    if (left.empty()) return;
    try {
      Work work(left, seed);
      work.chain(false);
      work.chain(true);
      std::fprintf(stderr, "chaos_client: continues with %zu of %zu devices\n", left.size(), devices.size());
      return;
    } catch (const Failure& failure) {
      if (Clock::now() > deadline)
        throw Wrong(std::string("a device that is reported as available does not work: ") + failure.what());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

Outcome run(double seconds, std::uint64_t seed, std::size_t devices_wanted) {
  std::vector<cl_device_id> devices;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  unsigned chains = 0;
  try {
    devices = find_devices();
    if (devices.size() != devices_wanted) {
      std::fprintf(stderr, "chaos_client: the platform has %zu devices instead of %zu\n", devices.size(),
                   devices_wanted);
      if (devices.empty()) return kFailed;
    }
    Work work(devices, seed);
    do work.chain(chains % 2 == 1);
    while (++chains < 2 || Clock::now() < end);
    return devices.size() == devices_wanted ? kRight : kFailed;
  } catch (const Failure& failure) {
    std::fprintf(stderr, "chaos_client: after %u chains: %s\n", chains, failure.what());
  }
  use_what_is_left(devices, seed);
  return kFailed;
}

}  // namespace

}  // namespace clique::test::chaos

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: chaos_client SECONDS SEED DEVICES\n");
    return 2;
  }
  try {
    return clique::test::chaos::run(std::strtod(argv[1], nullptr), std::strtoull(argv[2], nullptr, 10),
                                    std::strtoull(argv[3], nullptr, 10));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chaos_client: %s\n", error.what());
    return clique::test::chaos::kWrong;
  }
}
