// Clique with a library between it and the application: the library sees all calls of the application and
// none of the workers', and nothing else changes.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "api/helpers.hpp"
#include "between.hpp"

namespace clique::test {
namespace {

namespace fs = std::filesystem;

/// The path of the library in between.
std::string between() {
  const char* path = std::getenv("CLIQUE_TEST_BETWEEN");
  return path != nullptr ? path : "";
}

std::string contents(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The memory mappings of a process.
std::string maps_of(const std::string& pid) {
  return contents("/proc/" + pid + "/maps");
}

/// Whether the ICD loader knows the variable that names layers.
bool loader_takes_layers() {
  Dl_info loader{};
  return ::dladdr(reinterpret_cast<const void*>(&::clGetPlatformIDs), &loader) != 0 &&
         contents(loader.dli_fname).find("OPENCL_LAYERS") != std::string::npos;
}

class Between : public ApiTest {
 protected:
  void SetUp() override {
    // Workers inherit this variable, which tells them from other processes' workers.
    ::setenv("CLIQUE_TEST_MARK", std::to_string(::getpid()).c_str(), 1);
    ApiTest::SetUp();
    void* library = ::dlopen(between().c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (std::getenv("OPENCL_LAYERS") != nullptr && !loader_takes_layers())
      GTEST_SKIP() << "the loader takes no layers";
    ASSERT_NE(nullptr, library) << between() << " is not there";
    calls_of = reinterpret_cast<CallsOf>(::dlsym(library, "calls_of"));
    ASSERT_NE(nullptr, calls_of);
  }

  /// The process ids of this process's workers and of their parent.
  static std::vector<std::string> workers() {
    const std::string mark = "CLIQUE_TEST_MARK=" + std::to_string(::getpid()) + '\0';
    std::vector<std::string> pids;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string pid = entry.path().filename();
      if (pid.find_first_not_of("0123456789") == std::string::npos &&
          contents(entry.path() / "environ").find(mark) != std::string::npos)
        pids.push_back(pid);
    }
    return pids;
  }

  static void expect_workers_without_it() {
    const auto pids = workers();
    ASSERT_FALSE(pids.empty());
    for (const std::string& pid : pids) EXPECT_EQ(std::string::npos, maps_of(pid).find(between())) << pid;
  }

  /// Uses a bit of everything: objects, a kernel, an event with a callback, errors.
  void use() {
    std::vector<cl_int> numbers(1000);
    std::iota(numbers.begin(), numbers.end(), 0);
    const Mem memory = buffer(numbers.size(), numbers.data());
    const Program program = build("kernel void twice(global int* n) { n[get_global_id(0)] *= 2; }");
    const Kernel twice = kernel(program, "twice");
    set_args(twice, memory);
    Event ran;
    EXPECT_CL(launch(queue, twice, numbers.size(), {}, ran.out()));
    Calls<cl_int> calls;
    EXPECT_CL(clSetEventCallback(
        ran, CL_COMPLETE,
        [](cl_event, cl_int status, void* data) { static_cast<Calls<cl_int>*>(data)->add(status); }, &calls));
    for (cl_int& number : numbers) number *= 2;
    EXPECT_EQ(numbers, read<cl_int>(memory, numbers.size()));
    EXPECT_EQ(std::vector<cl_int>{CL_COMPLETE}, calls.wait_for(1));
    // Objects refer to each other by the handles that the application has.
    EXPECT_EQ(context.get(), info<cl_context>(clGetMemObjectInfo, memory.get(), CL_MEM_CONTEXT));
    EXPECT_EQ(queue.get(), info<cl_command_queue>(clGetEventInfo, ran.get(), CL_EVENT_COMMAND_QUEUE));

    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, clCreateBuffer(context, CL_MEM_READ_WRITE, 0, nullptr, &err));
    EXPECT_EQ(CL_INVALID_BUFFER_SIZE, err);
    EXPECT_EQ(nullptr, clCreateBuffer(context, CL_MEM_READ_WRITE, 0, nullptr, nullptr));
    const Kernel without_arguments = kernel(program, "twice");
    EXPECT_EQ(CL_INVALID_KERNEL_ARGS, launch(queue, without_arguments, 1));
    EXPECT_EQ(CL_INVALID_VALUE,
              clEnqueueReadBuffer(queue, memory, CL_TRUE, 4000, 1, numbers.data(), 0, nullptr, nullptr));
  }

  CallsOf calls_of = nullptr;
};

using Layer = Between;
using Interposer = Between;
using Node = Between;

TEST_F(Layer, GivenCallsThenItSeesAllAndResultsAreRight) {
  const std::map<const char*, int> expected{
      {"clGetPlatformIDs", 0},       {"clCreateContext", 0},    {"clCreateBuffer", 3},
      {"clReleaseMemObject", 1},     {"clSetEventCallback", 1}, {"clCreateBufferWithProperties", 0},
      {"clEnqueueNDRangeKernel", 2}, {"clEnqueueReadBuffer", 2}};
  std::map<const char*, int> before;
  for (const auto& [function, calls] : expected) before[function] = calls_of(function);
  EXPECT_LE(1, before["clGetPlatformIDs"]);
  EXPECT_EQ(1, calls_of("clCreateContext"));
  use();
  for (const auto& [function, calls] : expected)
    EXPECT_EQ(calls, calls_of(function) - before[function]) << function;
}

TEST_F(Layer, GivenWorkersThenTheyDoWithoutIt) {
  expect_workers_without_it();
}

// Khronos' layer that validates parameters reads this word, as if a kernel were a cl_buffer_region.
TEST_F(Layer, GivenKernelThenTheWordBehindItsDispatchTableIsNotZero) {
  const Program program = build("kernel void nothing() {}");
  const Kernel nothing = kernel(program, "nothing");
  EXPECT_NE(nullptr, reinterpret_cast<void* const*>(nothing.get())[1]);
}

// The same layer needs room for one element.
TEST_F(Layer, GivenDeviceThatIsNoPartThenTheTypeOfPartitionIsItsTerminator) {
  EXPECT_EQ(
      std::vector<cl_device_partition_property>{0},
      info<std::vector<cl_device_partition_property>>(clGetDeviceInfo, device, CL_DEVICE_PARTITION_TYPE));
}

TEST_F(Interposer, GivenCallsThenItSeesAllAndResultsAreRight) {
  EXPECT_EQ(1, calls_of("clCreateContext"));
  EXPECT_EQ(0, calls_of("clCreateBuffer"));
  use();
  EXPECT_EQ(1, calls_of("clCreateContext"));
  EXPECT_EQ(3, calls_of("clCreateBuffer"));
}

TEST_F(Interposer, GivenWorkersThenTheyDoWithoutIt) {
  expect_workers_without_it();
}

TEST_F(Node, GivenDriverThatLosesTheDataOfErrorsThenTheRestWorks) {
  // The interposer loses the data in the workers of the daemon, which was started with it.
  const char* daemons = std::getenv("CLIQUE_TEST_DAEMONS");
  ASSERT_NE(nullptr, daemons);
  const std::string daemon = daemons;
  std::istringstream children(contents("/proc/" + daemon + "/task/" + daemon + "/children"));
  bool there = false;
  for (std::string pid; children >> pid;) there = there || maps_of(pid).find(between()) != std::string::npos;
  EXPECT_TRUE(there);
  use();
}

}  // namespace
}  // namespace clique::test
