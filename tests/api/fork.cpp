// fork() in a process that uses OpenCL. The specification does not mention it; Clique guarantees that calls
// in the child start afresh or return errors within a bounded time, and that the parent is not affected.
#include <cstdlib>

#include "child.hpp"
#include "helpers.hpp"

namespace clique::test::suite_fork {

class Fork : public ApiTest {
 protected:
  static constexpr char source[] = "kernel void k(global int* out, int value) { *out = value; }";
  static constexpr std::chrono::seconds limit{20};

  void SetUp() override {
    if (info<std::string>(clGetPlatformInfo, platform(), CL_PLATFORM_NAME).find("Clique") ==
        std::string::npos)
      GTEST_SKIP() << "the platform does not promise to survive fork()";
    ApiTest::SetUp();
    if (HasFatalFailure()) return;
    program = build(source);
    k = kernel(program, "k");
    expect_usable();
  }
  void expect_usable() {
    static int value = 0;
    const Mem out = buffer<int>(1);
    set_args(k, out, ++value);
    ASSERT_CL(launch(queue, k, 1));
    EXPECT_EQ(value, read<int>(out, 1).front());
  }
  /// Runs `body` in a child, whose exit status is what it returns. The child must not use GoogleTest, whose
  /// state is the parent's.
  template <typename Body>
  static std::string in_child(Body body) {
    const pid_t child = fork();
    if (child == 0) _exit(body());
    return end_of(child, limit);
  }
  /// Uses OpenCL from clGetPlatformIDs on. Returns 0 for success, 1 if a call returned an error, 2 for a
  /// wrong result.
  static int afresh() {
    cl_uint count = 0;
    if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return 1;
    std::vector<cl_platform_id> all(count);
    if (clGetPlatformIDs(count, all.data(), nullptr) != CL_SUCCESS) return 1;
    for (cl_platform_id one : all) {
      char name[256] = {};
      if (clGetPlatformInfo(one, CL_PLATFORM_NAME, sizeof name, name, nullptr) != CL_SUCCESS) return 1;
      if (std::string(name).find("Clique") == std::string::npos) continue;
      cl_device_id first = nullptr;
      if (clGetDeviceIDs(one, CL_DEVICE_TYPE_ALL, 1, &first, nullptr) != CL_SUCCESS) return 1;
      cl_int err = CL_SUCCESS;
      const Context fresh(clCreateContext(nullptr, 1, &first, nullptr, nullptr, &err));
      if (err != CL_SUCCESS) return 1;
      const Queue q(clCreateCommandQueueWithProperties(fresh, first, nullptr, &err));
      if (err != CL_SUCCESS) return 1;
      const Mem mem(clCreateBuffer(fresh, CL_MEM_READ_WRITE, sizeof(int), nullptr, &err));
      if (err != CL_SUCCESS) return 1;
      const char* text = source;
      const Program p(clCreateProgramWithSource(fresh, 1, &text, nullptr, &err));
      if (err != CL_SUCCESS || clBuildProgram(p, 0, nullptr, "", nullptr, nullptr) != CL_SUCCESS) return 1;
      const Kernel own(clCreateKernel(p, "k", &err));
      if (err != CL_SUCCESS) return 1;
      const int value = 321;
      int back = 0;
      const size_t global = 1;
      if (clSetKernelArg(own, 0, sizeof(cl_mem), mem.ptr()) != CL_SUCCESS ||
          clSetKernelArg(own, 1, sizeof value, &value) != CL_SUCCESS ||
          clEnqueueNDRangeKernel(q, own, 1, nullptr, &global, nullptr, 0, nullptr, nullptr) != CL_SUCCESS ||
          clEnqueueReadBuffer(q, mem, CL_TRUE, 0, sizeof back, &back, 0, nullptr, nullptr) != CL_SUCCESS)
        return 1;
      return back == value ? 0 : 2;
    }
    return 1;
  }
  static void expect_fresh_or_errors(const std::string& end) {
    EXPECT_TRUE(end == "exit 0" || end == "exit 1") << end;
  }

  Program program;
  Kernel k;
};

TEST_F(Fork, GivenChildThatUsesOpenClAfreshThenItWorksOrGetsErrorsAndParentGoesOn) {
  expect_fresh_or_errors(in_child(afresh));
  expect_usable();
}

TEST_F(Fork, GivenChildThatUsesItsParentsObjectsThenItGetsResultsOrErrorsAndParentGoesOn) {
  const Mem out = buffer<int>(1);
  set_args(k, out, 5);
  expect_fresh_or_errors(in_child([&] {
    int back = 0;
    if (launch(queue, k, 1) != CL_SUCCESS) return 1;
    if (clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof back, &back, 0, nullptr, nullptr) != CL_SUCCESS)
      return 1;
    return back == 5 ? 0 : 2;
  }));
  expect_usable();
}

TEST_F(Fork, GivenChildThatReleasesAllItsParentsObjectsThenParentGoesOn) {
  const Mem out = buffer<int>(1);
  EXPECT_EQ("exit 0", in_child([&] {
              clReleaseMemObject(out);
              clReleaseKernel(k);
              clReleaseProgram(program);
              clReleaseCommandQueue(queue);
              clReleaseContext(context);
              return 0;
            }));
  set_args(k, out, 6);
  ASSERT_CL(launch(queue, k, 1));
  EXPECT_EQ(6, read<int>(out, 1).front());
  expect_usable();
}

TEST_F(Fork, GivenChildThatExitsWithItsHandlersThenParentGoesOn) {
  const pid_t child = fork();
  if (child == 0) std::exit(0);  // runs the destructors and exit handlers that the driver registered
  EXPECT_EQ("exit 0", end_of(child, limit));
  expect_usable();
}

TEST_F(Fork, GivenChildThatExecutesAnotherProgramThenParentGoesOn) {
  const pid_t child = fork();
  if (child == 0) {
    execlp("true", "true", nullptr);
    _exit(9);
  }
  EXPECT_EQ("exit 0", end_of(child, limit));
  expect_usable();
}

TEST_F(Fork, GivenPendingCommandsInParentThenTheyRunOnceAndRight) {
  const int zero = 0;
  const Mem sum = buffer<int>(1, &zero);
  const Program adding = build("kernel void add(global int* sum, int value) { *sum += value; }");
  const Kernel add = kernel(adding, "add");
  set_args(add, sum, 3);
  Gate gate(context);
  for (int i = 0; i < 5; ++i) ASSERT_CL(launch(queue, add, 1, {gate}));
  expect_fresh_or_errors(in_child(afresh));
  expect_fresh_or_errors(in_child([&] { return clFlush(queue) == CL_SUCCESS ? 0 : 1; }));
  gate.open();
  EXPECT_EQ(15, read<int>(sum, 1).front());
}

TEST_F(Fork, GivenChildAndParentAtWorkAtTheSameTimeThenBothGetTheirOwnResults) {
  const pid_t child = fork();
  if (child == 0) {
    int result = 0;
    for (int i = 0; i < 5 && result == 0; ++i) result = afresh();
    _exit(result);
  }
  for (int i = 0; i < 20; ++i) expect_usable();
  expect_fresh_or_errors(end_of(child, limit));
  expect_usable();
}

TEST_F(Fork, GivenGrandchildThenItWorksOrGetsErrors) {
  expect_fresh_or_errors(in_child([] {
    const int first = afresh();
    const std::string second = in_child(afresh);
    if (second == "exit 0") return first;
    return second == "exit 1" ? 1 : 3;
  }));
  expect_usable();
}

TEST_F(Fork, GivenManyChildrenThenParentGoesOn) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ("exit 0", in_child([] { return 0; }));
    expect_usable();
  }
}

}  // namespace clique::test::suite_fork
