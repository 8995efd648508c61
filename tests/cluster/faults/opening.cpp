// Nodes whose devices are known, but that have no session yet.
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "api/child.hpp"
#include "nodes.hpp"

namespace clique::test {

class Opening : public ::testing::Test {
 protected:
  void SetUp() override {
    nodes.emplace_back("alpha");
    nodes.emplace_back("beta");
    use_nodes({nodes[0].address(), nodes[1].address()});
    ASSERT_EQ(2U, devices().size());
  }
  static Context context_of(const std::vector<cl_device_id>& members, cl_int* status) {
    return Context(clCreateContext(nullptr, static_cast<cl_uint>(members.size()), members.data(), nullptr,
                                   nullptr, status));
  }
  static bool available(cl_device_id device) {
    return info<cl_bool>(clGetDeviceInfo, device, CL_DEVICE_AVAILABLE) == CL_TRUE;
  }

  std::vector<Node> nodes;
};

TEST_F(Opening, NodesThatAreNotUsedHaveNoSession) {
  EXPECT_FALSE(nodes[0].serves(getpid()));
  cl_int status = CL_SUCCESS;
  const Context one = context_of({devices()[1]}, &status);
  ASSERT_CL(status);
  EXPECT_FALSE(nodes[0].serves(getpid()));
  EXPECT_GT(nodes[1].worker(), 0);
  const Context both = context_of(devices(), &status);
  ASSERT_CL(status);
  EXPECT_GT(nodes[0].worker(), 0);
}

TEST_F(Opening, ThreadsThatNeedOneAtTheSameTimeShareIt) {
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      cl_int status = CL_SUCCESS;
      const Context context = context_of(devices(), &status);
      ASSERT_CL(status);
      const Queue queue(clCreateCommandQueueWithProperties(context, devices()[i % 2], nullptr, &status));
      ASSERT_CL(status);
      EXPECT_CL(clFinish(queue));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Opening, ForkedChildrenHaveDevicesOfTheirOwn) {
  const std::vector<cl_device_id> ours = devices();
  const pid_t child = fork();
  if (child == 0) {
    // The child must not use gtest, whose state belongs to the parent.
    cl_int status = CL_SUCCESS;
    const Context none = context_of(ours, &status);
    if (status != CL_INVALID_DEVICE) _exit(1);
    std::vector<cl_device_id> own(2);
    if (clGetDeviceIDs(platform(), CL_DEVICE_TYPE_ALL, 2, own.data(), nullptr) != CL_SUCCESS) _exit(2);
    const Context context = context_of(own, &status);
    _exit(status == CL_SUCCESS ? 0 : 3);
  }
  EXPECT_EQ("exit 0", end_of(child, std::chrono::seconds(20)));
  cl_int status = CL_SUCCESS;
  const Context context = context_of(ours, &status);
  EXPECT_CL(status);
}

TEST_F(Opening, PartsOfDevicesNeedOne) {
  const cl_device_partition_property ones[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  cl_uint count = 0;
  const cl_int status = clCreateSubDevices(devices()[0], ones, 0, nullptr, &count);
  if (status == CL_INVALID_VALUE) GTEST_SKIP() << "the device has no parts";
  EXPECT_CL(status);
  EXPECT_GT(nodes[0].worker(), 0);
  EXPECT_FALSE(nodes[1].serves(getpid()));
}

TEST_F(Opening, NodesThatHaveGoneAreNotAvailable) {
  EXPECT_TRUE(available(devices()[0]));
  nodes[0].daemon().kill();
  cl_int status = CL_SUCCESS;
  const Context none = context_of(devices(), &status);
  EXPECT_EQ(CL_DEVICE_NOT_AVAILABLE, status);
  EXPECT_EQ(nullptr, none.get());
  const Context rest(clCreateContextFromType(nullptr, CL_DEVICE_TYPE_ALL, nullptr, nullptr, &status));
  ASSERT_CL(status);
  EXPECT_EQ(1U, info<cl_uint>(clGetContextInfo, rest.get(), CL_CONTEXT_NUM_DEVICES));
  EXPECT_TRUE(eventually(kLossLimit, [&] { return !available(devices()[0]); }));
  EXPECT_TRUE(available(devices()[1]));
}

TEST_F(Opening, WithoutDescriptorsFailsAndSaysHowToAllowMore) {
  rlimit before{};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_NOFILE, &before));
  // The lowest descriptor that is free, and two after it.
  const int lowest = ::dup(STDERR_FILENO);
  ASSERT_GE(lowest, 0);
  ::close(lowest);
  testing::internal::CaptureStderr();
  const rlimit few{static_cast<rlim_t>(lowest) + 3, before.rlim_max};
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &few));
  cl_int status = CL_SUCCESS;
  const Context none = context_of(devices(), &status);
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &before));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(CL_DEVICE_NOT_AVAILABLE, status);
  EXPECT_NE(std::string::npos, said.find("allow more with 'ulimit -n'")) << said;
  const Context both = context_of(devices(), &status);
  EXPECT_CL(status);
}

}  // namespace clique::test
