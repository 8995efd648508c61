// clCommandBarrierWithWaitListKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"

namespace clique::test::suite_clCommandBarrierWithWaitListKHR {

class clCommandBarrierWithWaitListKHR : public CommandBufferTest {};

TEST_F(clCommandBarrierWithWaitListKHR, GivenBarrierThenTheOrderIsKept) {
  in_both_forms([&] {
    const Mem first = buffer<cl_uint>(16);
    const Mem second = buffer<cl_uint>(16);
    const cl_uint pattern = 5;
    const CommandBuffer made = record_on(queue);
    cl_sync_point_khr filled = 0;
    ASSERT_CL(call.fill_buffer(made, nullptr, first, &pattern, sizeof pattern, 0, 64, 0, nullptr, &filled,
                               nullptr));
    cl_sync_point_khr passed = 0;
    ASSERT_CL(call.barrier(made, nullptr, 1, &filled, &passed, nullptr));
    ASSERT_CL(call.copy_buffer(made, nullptr, first, second, 0, 0, 64, 1, &passed, nullptr, nullptr));
    run(made);
    EXPECT_EQ(std::vector<cl_uint>(16, pattern), read<cl_uint>(second, 16));
  });
}

// Commands without sync points of their own still run after a barrier, and the barrier after the commands
// that it waits for, or after all.
TEST_F(clCommandBarrierWithWaitListKHR, GivenOutOfOrderQueueThenCommandsComeBeforeAndAfter) {
  in_both_forms([&] {
    if (!keeps_no_order(device)) GTEST_SKIP() << "the device has no such queues";
    const Queue unordered = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    constexpr size_t kParts = 8;
    constexpr size_t kSize = 1U << 20U;
    const Mem first = buffer<cl_uchar>(kParts * kSize);
    const Mem second = buffer<cl_uchar>(kParts * kSize);
    const Mem third = buffer<cl_uchar>(kParts * kSize);
    const CommandBuffer made = record_on(unordered);
    std::vector<cl_uchar> expected;
    for (cl_uchar part = 0; part < kParts; ++part) {
      ASSERT_CL(call.fill_buffer(made, nullptr, first, &part, 1, part * kSize, kSize, 0, nullptr, nullptr,
                                 nullptr));
      expected.insert(expected.end(), kSize, part);
    }
    ASSERT_CL(call.barrier(made, nullptr, 0, nullptr, nullptr, nullptr));
    cl_sync_point_khr copied = 0;
    ASSERT_CL(
        call.copy_buffer(made, nullptr, first, second, 0, 0, kParts * kSize, 0, nullptr, &copied, nullptr));
    ASSERT_CL(call.barrier(made, nullptr, 1, &copied, nullptr, nullptr));
    const cl_uchar other = 99;
    ASSERT_CL(
        call.fill_buffer(made, nullptr, first, &other, 1, 0, kParts * kSize, 0, nullptr, nullptr, nullptr));
    // Two barriers in a row; the second one's sync point represents both.
    cl_sync_point_khr passed = 0;
    ASSERT_CL(call.barrier(made, nullptr, 0, nullptr, nullptr, nullptr));
    ASSERT_CL(call.barrier(made, nullptr, 0, nullptr, &passed, nullptr));
    ASSERT_CL(
        call.copy_buffer(made, nullptr, first, third, 0, 0, kParts * kSize, 1, &passed, nullptr, nullptr));
    run(made);
    EXPECT_EQ(expected, read<cl_uchar>(second, kParts * kSize));
    EXPECT_EQ(std::vector<cl_uchar>(kParts * kSize, other), read<cl_uchar>(third, kParts * kSize));
  });
}

TEST_F(clCommandBarrierWithWaitListKHR, GivenCallThenRulesOfEveryRecordingHold) {
  in_both_forms(
      [&] { expect_recording_rules([&](auto... arguments) { return call.barrier(arguments...); }); });
}

TEST_F(clCommandBarrierWithWaitListKHR, GivenPropertiesOrHandleThenInvalidValue) {
  expect_no_properties([&](auto recording, auto on, auto properties, auto... rest) {
    return call.barrier.newer(recording, on, properties, rest...);
  });
}

}  // namespace clique::test::suite_clCommandBarrierWithWaitListKHR
