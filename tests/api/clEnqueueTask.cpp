// clEnqueueTask: OpenCL 3.0, deprecated entry points (OpenCL 1.2, section 5.8).
#include "helpers.hpp"

namespace clique::test::suite_clEnqueueTask {

class clEnqueueTask : public ApiTest {
 protected:
  static constexpr char source[] =
      "kernel void k(global int* out) { *out = 100 * get_global_size(0) + 10 * get_local_size(0) + "
      "get_work_dim(); }";
};

TEST_F(clEnqueueTask, GivenKernelThenItRunsAsOneWorkItem) {
  const Program program = build(source);
  const Kernel k = kernel(program, "k");
  const Mem out = buffer<int>(1);
  set_args(k, out);
  Event event;
  ASSERT_CL(::clEnqueueTask(queue, k, 0, nullptr, event.out()));
  EXPECT_EQ(111, read<int>(out, 1).front());
  EXPECT_EQ(cl_command_type{CL_COMMAND_TASK},
            info<cl_command_type>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_TYPE));
}

TEST_F(clEnqueueTask, GivenWaitListThenItRunsAfterTheEvents) {
  const Program program = build(source);
  const Kernel k = kernel(program, "k");
  const Mem out = buffer<int>(1);
  set_args(k, out);
  Gate gate(context);
  Event event;
  ASSERT_CL(::clEnqueueTask(queue, k, 1, gate.ptr(), event.out()));
  EXPECT_GT(status_of(event), CL_RUNNING);
  gate.open();
  EXPECT_EQ(111, read<int>(out, 1).front());
}

TEST_F(clEnqueueTask, GivenInvalidArgumentsThenTheirErrors) {
  const Program program = build(source);
  const Kernel k = kernel(program, "k");
  const OtherContext other;
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, ::clEnqueueTask(queue, k, 0, nullptr, nullptr));
  const Mem out = buffer<int>(1);
  set_args(k, out);
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, ::clEnqueueTask(nullptr, k, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_KERNEL, ::clEnqueueTask(queue, nullptr, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_CONTEXT, ::clEnqueueTask(other.queue, k, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_CONTEXT, ::clEnqueueTask(queue, k, 1, other.event.ptr(), nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, ::clEnqueueTask(queue, k, 1, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, ::clEnqueueTask(queue, k, 0, other.event.ptr(), nullptr));
}

TEST_F(clEnqueueTask, GivenRequiredLargerWorkGroupThenInvalidWorkGroupSize) {
  const Program program = build("kernel __attribute__((reqd_work_group_size(4, 1, 1))) void k() {}");
  EXPECT_EQ(CL_INVALID_WORK_GROUP_SIZE, ::clEnqueueTask(queue, kernel(program, "k"), 0, nullptr, nullptr));
}

}  // namespace clique::test::suite_clEnqueueTask
