// clFinalizeCommandBufferKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"

namespace clique::test::suite_clFinalizeCommandBufferKHR {

class clFinalizeCommandBufferKHR : public CommandBufferTest {};

TEST_F(clFinalizeCommandBufferKHR, GivenRecordingThenItIsExecutable) {
  const CommandBuffer made = record_on(queue);
  EXPECT_CL(call.finalize(made));
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR}, state_of(made));
}

TEST_F(clFinalizeCommandBufferKHR, GivenFinalizedThenInvalidOperation) {
  const CommandBuffer made = record_on(queue);
  ASSERT_CL(call.finalize(made));
  EXPECT_EQ(CL_INVALID_OPERATION, call.finalize(made));
}

TEST_F(clFinalizeCommandBufferKHR, GivenNoCommandBufferThenInvalidCommandBuffer) {
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, call.finalize(nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, call.finalize(foreign_handle<cl_command_buffer_khr>()));
}

}  // namespace clique::test::suite_clFinalizeCommandBufferKHR
