// clFinish: OpenCL 3.0, section 5.15.
#include <atomic>
#include <thread>

#include "helpers.hpp"

namespace clique::test::suite_clFinish {

class clFinish : public ApiTest {};

TEST_F(clFinish, GivenCommandsThenAllAreComplete) {
  std::vector<int> data(1000, 3);
  std::vector<int> back(1000, 0);
  const Mem a = buffer<int>(1000);
  const Mem b = buffer<int>(1000);
  std::vector<Event> events(3);
  const size_t size = data.size() * sizeof(int);
  ASSERT_CL(clEnqueueWriteBuffer(queue, a, CL_FALSE, 0, size, data.data(), 0, nullptr, events[0].out()));
  ASSERT_CL(clEnqueueCopyBuffer(queue, a, b, 0, 0, size, 0, nullptr, events[1].out()));
  ASSERT_CL(clEnqueueReadBuffer(queue, b, CL_FALSE, 0, size, back.data(), 0, nullptr, events[2].out()));
  ASSERT_CL(::clFinish(queue));
  for (const Event& event : events) EXPECT_EQ(CL_COMPLETE, status_of(event));
  EXPECT_EQ(data, back);
}

TEST_F(clFinish, GivenOutOfOrderQueueThenAllAreComplete) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  std::vector<int> data(64);
  std::vector<Event> events(64);
  const Mem mem = buffer<int>(64);
  for (int i = 0; i < 64; ++i) {
    data[i] = i;
    ASSERT_CL(clEnqueueWriteBuffer(any_order, mem, CL_FALSE, i * sizeof(int), sizeof(int), &data[i], 0,
                                   nullptr, events[i].out()));
  }
  ASSERT_CL(::clFinish(any_order));
  for (const Event& event : events) EXPECT_EQ(CL_COMPLETE, status_of(event));
  EXPECT_EQ(data, read<int>(mem, 64));
}

TEST_F(clFinish, GivenBlockedCommandThenReturnsNotBeforeItIsReleased) {
  const Event user = user_event();
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 1, user.ptr(), nullptr));
  std::atomic<bool> set = false;
  std::thread setter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    set = true;
    EXPECT_CL(clSetUserEventStatus(user, CL_COMPLETE));
  });
  EXPECT_CL(::clFinish(queue));
  EXPECT_TRUE(set);
  setter.join();
}

TEST_F(clFinish, GivenOtherQueueIsBlockedThenReturns) {
  const Queue blocked = make_queue();
  Gate gate(context);
  ASSERT_CL(clEnqueueMarkerWithWaitList(blocked, 1, gate.ptr(), nullptr));
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, nullptr));
  EXPECT_CL(::clFinish(queue));
}

TEST_F(clFinish, GivenCommandThatWaitsForQueueOfAnotherDeviceThenReturns) {
  const Queue first = make_queue(0, devices().front());
  const Queue second = make_queue(0, devices().back());
  const int pattern = 5;
  const Mem mem = buffer<int>(4);
  Event filled;
  ASSERT_CL(clEnqueueFillBuffer(first, mem, &pattern, sizeof pattern, 0, 16, 0, nullptr, filled.out()));
  // The specification requires a flush before another queue waits for the event.
  ASSERT_CL(clFlush(first));
  ASSERT_CL(clEnqueueMarkerWithWaitList(second, 1, filled.ptr(), nullptr));
  EXPECT_CL(::clFinish(second));
  EXPECT_EQ(CL_COMPLETE, status_of(filled));
}

TEST_F(clFinish, GivenEmptyQueueThenSucceeds) {
  EXPECT_CL(::clFinish(queue));
  EXPECT_CL(::clFinish(queue));
}

TEST_F(clFinish, GivenNullQueueThenInvalidCommandQueue) {
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, ::clFinish(nullptr));
}

}  // namespace clique::test::suite_clFinish
