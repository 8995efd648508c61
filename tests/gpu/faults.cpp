// Kernels that fault or never end affect their own session only.
#include <chrono>
#include <cstdio>

#include "cluster/faults/process.hpp"
#include "gpu.hpp"

namespace clique::test {

using namespace std::chrono_literals;

/// The processes that misbehave. Each has a session of its own.
class FaultsProcess : public GpuTest {
 protected:
  static constexpr char sources[] = R"(
    kernel void wild(global int* out, ulong address) {
      out[0] = 1;
      *(global int*)(out + address) = 2;
    }
    kernel void endless(volatile global int* go, global int* out) {
      out[0] = 1;
      while (go[0] == 0) out[1] += 1;
    })";
  static constexpr cl_ulong far_away = cl_ulong{1} << 44U;

  cl_int start_wild(cl_event* event) {
    program_ = build(sources);
    kernel_ = kernel(program_, "wild");
    out_ = buffer<cl_int>(1);
    set_args(kernel_, out_, far_away);
    const size_t one = 1;
    return clEnqueueNDRangeKernel(queue, kernel_, 1, nullptr, &one, nullptr, 0, nullptr, event);
  }
  void start_endless() {
    program_ = build(sources);
    kernel_ = kernel(program_, "endless");
    const cl_int zeros[2] = {};
    go_ = buffer(1, zeros);
    out_ = buffer(2, zeros);
    set_args(kernel_, go_, out_);
    ASSERT_CL(launch(kernel_, 1));
    ASSERT_CL(clFlush(queue));
    std::fprintf(stderr, "launched\n");
  }

 private:
  Program program_;
  Kernel kernel_;
  Mem go_;
  Mem out_;
};

TEST_F(FaultsProcess, DISABLED_WritesWhereNothingIs) {
  Event event;
  ASSERT_CL(start_wild(event.out()));
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, event.ptr()));
  EXPECT_GT(0, info<cl_int>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS));
}

TEST_F(FaultsProcess, DISABLED_GoesOnAfterAFault) {
  const Mem mem = buffer<cl_int>(1);
  Event event;
  ASSERT_CL(start_wild(event.out()));
  clWaitForEvents(1, event.ptr());
  // Calls may fail or succeed now, but the session neither hangs nor crashes.
  cl_int value = 3;
  clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr);
  EXPECT_NE(CL_SUCCESS,
            clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr));
  clFinish(queue);
}

TEST_F(FaultsProcess, DISABLED_WaitsForTheEndless) {
  start_endless();
  clFinish(queue);
}

TEST_F(FaultsProcess, DISABLED_LeavesTheEndlessBehind) {
  start_endless();
}

class Faults : public GpuTest {
 protected:
  /// Checks that the session of this process still computes.
  void expect_works() {
    const Program program =
        build("kernel void k(global int* out, int n) { out[get_global_id(0)] = get_global_id(0) * n; }");
    const Kernel k = kernel(program, "k");
    const Mem out = buffer<cl_int>(1000);
    set_args(k, out, 3);
    ASSERT_CL(launch(k, 1000));
    const auto got = read<cl_int>(out, 1000);
    for (cl_int i = 0; i < 1000; ++i) ASSERT_EQ(3 * i, got[static_cast<size_t>(i)]);
  }
  /// Starts a process. If it starts a cliqued, that one can be found by its environment.
  static Child start(const std::string& test) {
    return start_test("FaultsProcess.DISABLED_" + test, {{"CLIQUE_TEST_MARK", mark()}});
  }
  static bool launched(const Child& child) {
    return eventually(60s,
                      [&] {
                        return child.output().find("launched\n") != std::string::npos || !alive(child.pid());
                      }) &&
           alive(child.pid());
  }
  /// Whether no process of the sessions that start() began is left.
  static bool gone() {
    return eventually(20s, [] { return cliqued_processes_with("CLIQUE_TEST_MARK", mark()).empty(); });
  }

 private:
  static std::string mark() { return "faults-" + std::to_string(getpid()); }
};

TEST_F(Faults, GivenKernelThatWritesWhereNothingIsThenItsEventFails) {
  expect_works();
  Child child = start("WritesWhereNothingIs");
  EXPECT_EQ(0, child.wait(60s)) << child.output();
  expect_works();
  EXPECT_TRUE(gone());
}

TEST_F(Faults, GivenFaultWhenTheProgramGoesOnThenItGetsErrors) {
  Child child = start("GoesOnAfterAFault");
  EXPECT_EQ(0, child.wait(60s)) << child.output();
  expect_works();
  EXPECT_TRUE(gone());
}

TEST_F(Faults, GivenEndlessKernelWhenItsProcessIsKilledThenItEnds) {
  expect_works();
  Child child = start("WaitsForTheEndless");
  ASSERT_TRUE(launched(child)) << child.output();
  expect_works();
  child.kill();
  EXPECT_TRUE(gone());
  expect_works();
}

TEST_F(Faults, GivenEndlessKernelWhenItsProcessExitsThenBothEnd) {
  Child child = start("LeavesTheEndlessBehind");
  EXPECT_EQ(0, child.wait(60s)) << child.output();
  EXPECT_TRUE(gone());
  expect_works();
}

TEST_F(Faults, GivenFaultsInManySessionsAtOnceThenOthersComputeMeanwhile) {
  std::vector<Child> children;
  for (int i = 0; i < 4; ++i)
    children.push_back(start(i % 2 == 0 ? "WritesWhereNothingIs" : "GoesOnAfterAFault"));
  for (int i = 0; i < 20; ++i) expect_works();
  for (Child& child : children) EXPECT_EQ(0, child.wait(60s)) << child.output();
  expect_works();
  EXPECT_TRUE(gone());
}

}  // namespace clique::test
