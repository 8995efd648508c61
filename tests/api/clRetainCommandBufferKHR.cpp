// clRetainCommandBufferKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"

namespace clique::test::suite_clRetainCommandBufferKHR {

class clRetainCommandBufferKHR : public CommandBufferTest {};

TEST_F(clRetainCommandBufferKHR, GivenCommandBufferThenItsCountRises) {
  const CommandBuffer made = record_on(queue);
  const auto count = [&] {
    return info<cl_uint>(call.get_info, made.get(), CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR);
  };
  EXPECT_EQ(1U, count());
  EXPECT_CL(call.retain(made));
  EXPECT_EQ(2U, count());
  EXPECT_CL(call.release(made));
  EXPECT_EQ(1U, count());
}

TEST_F(clRetainCommandBufferKHR, GivenNoCommandBufferThenInvalidCommandBuffer) {
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, call.retain(nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, call.retain(foreign_handle<cl_command_buffer_khr>()));
}

}  // namespace clique::test::suite_clRetainCommandBufferKHR
