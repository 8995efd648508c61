// clReleaseCommandBufferKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"

namespace clique::test::suite_clReleaseCommandBufferKHR {

class clReleaseCommandBufferKHR : public CommandBufferTest {};

TEST_F(clReleaseCommandBufferKHR, GivenLastReferenceThenTheHandleIsNoneAnyMore) {
  CommandBuffer made = record_on(queue);
  const cl_command_buffer_khr handle = made;
  made.reset();
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, call.finalize(handle));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, call.release(handle));
}

TEST_F(clReleaseCommandBufferKHR, GivenPendingCommandBufferThenItRuns) {
  const Mem target = buffer<cl_uint>(16);
  const cl_uint pattern = 77;
  CommandBuffer made = record_on(queue);
  ASSERT_CL(call.fill_buffer(made, nullptr, target, &pattern, sizeof pattern, 0, 16 * sizeof pattern, 0,
                             nullptr, nullptr, nullptr));
  ASSERT_CL(call.finalize(made));
  Gate gate(context);
  ASSERT_CL(call.enqueue(0, nullptr, made, 1, gate.ptr(), nullptr));
  made.reset();
  gate.open();
  EXPECT_EQ(std::vector<cl_uint>(16, pattern), read<cl_uint>(target, 16));
}

TEST_F(clReleaseCommandBufferKHR, GivenRecordedObjectThenItLivesAsLong) {
  struct Destroyed {
    static void CL_CALLBACK note(cl_mem /*memory*/, void* data) { static_cast<Calls<int>*>(data)->add(1); }
  };
  Calls<int> destroyed;
  Mem target = buffer<cl_uint>(16);
  ASSERT_CL(clSetMemObjectDestructorCallback(target, Destroyed::note, &destroyed));
  const cl_uint pattern = 1;
  CommandBuffer made = record_on(queue);
  ASSERT_CL(
      call.fill_buffer(made, nullptr, target, &pattern, sizeof pattern, 0, 64, 0, nullptr, nullptr, nullptr));
  target.reset();
  run(made);
  ASSERT_CL(clFinish(queue));
  EXPECT_TRUE(destroyed.wait_for(0).empty());
  made.reset();
  EXPECT_EQ(1U, destroyed.wait_for(1).size());
}

}  // namespace clique::test::suite_clReleaseCommandBufferKHR
