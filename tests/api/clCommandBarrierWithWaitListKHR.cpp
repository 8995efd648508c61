// clCommandBarrierWithWaitListKHR: cl_khr_command_buffer 0.9.1.
#include "commandBuffers.hpp"

namespace clique::test {

class clCommandBarrierWithWaitListKHR : public CommandBufferTest {};

TEST_F(clCommandBarrierWithWaitListKHR, GivenBarrierThenTheOrderIsKept) {
  const Mem first = buffer<cl_uint>(16);
  const Mem second = buffer<cl_uint>(16);
  const cl_uint pattern = 5;
  const CommandBuffer made = record_on(queue);
  cl_sync_point_khr filled = 0;
  ASSERT_CL(
      call.fill_buffer(made, nullptr, first, &pattern, sizeof pattern, 0, 64, 0, nullptr, &filled, nullptr));
  cl_sync_point_khr passed = 0;
  ASSERT_CL(call.barrier(made, nullptr, 1, &filled, &passed, nullptr));
  ASSERT_CL(call.copy_buffer(made, nullptr, first, second, 0, 0, 64, 1, &passed, nullptr, nullptr));
  run(made);
  EXPECT_EQ(std::vector<cl_uint>(16, pattern), read<cl_uint>(second, 16));
}

TEST_F(clCommandBarrierWithWaitListKHR, GivenCallThenRulesOfEveryRecordingHold) {
  expect_recording_rules([&](auto... arguments) { return call.barrier(arguments...); });
}

}  // namespace clique::test
