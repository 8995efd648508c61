// Tests for a node whose cliqued was started with --kernel-timeout (see CMakeLists.txt).
#include "gpu.hpp"

namespace clique::test {

class KernelTimeout : public GpuTest {};

TEST_F(KernelTimeout, GivenKernelThatNeverEndsThenItsEventFails) {
  const Program program = build(R"(
    kernel void endless(volatile global int* go) { while (go[0] == 0) go[1] += 1; }
    kernel void add(global int* data) { data[get_global_id(0)] += 1; })");
  const cl_int zeros[2] = {};
  const Mem data = buffer(2, zeros);
  const Kernel add = kernel(program, "add");
  set_args(add, data);
  ASSERT_CL(launch(add, 2));
  EXPECT_EQ((std::vector<cl_int>{1, 1}), read<cl_int>(data, 2));
  ASSERT_CL(clEnqueueWriteBuffer(queue, data, CL_TRUE, 0, sizeof zeros, zeros, 0, nullptr, nullptr));
  const Kernel endless = kernel(program, "endless");
  set_args(endless, data);
  Event event;
  const size_t one = 1;
  ASSERT_CL(clEnqueueNDRangeKernel(queue, endless, 1, nullptr, &one, nullptr, 0, nullptr, event.out()));
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, event.ptr()));
  EXPECT_GT(0, info<cl_int>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS));
  // The session has ended: calls fail without waiting.
  cl_int value = 0;
  EXPECT_NE(CL_SUCCESS,
            clEnqueueReadBuffer(queue, data, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr));
}

}  // namespace clique::test
