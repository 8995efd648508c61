// The order in which the host sees the completion of events that depend on each other across nodes.
#include <cstring>

#include "../api/helpers.hpp"

namespace clique::test {

class Order : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) return;
    if (devices().size() < 3) GTEST_SKIP() << "needs a platform with three devices or more";
    for (size_t i = 0; i < 3; ++i) queues.push_back(make_queue(0, devices()[i]));
  }
  static Event marker(cl_command_queue on, const std::vector<cl_event>& waits) {
    Event event;
    EXPECT_CL(clEnqueueMarkerWithWaitList(on, static_cast<cl_uint>(waits.size()),
                                          waits.empty() ? nullptr : waits.data(), event.out()));
    return event;
  }
  /// Enqueues a large read, which completes some time after the next commands on other nodes.
  Event large_read(cl_command_queue on, cl_mem mem, void* to, size_t size) {
    Event event;
    EXPECT_CL(clEnqueueReadBuffer(on, mem, CL_FALSE, 0, size, to, 0, nullptr, event.out()));
    return event;
  }

  static constexpr int rounds = 60;
  std::vector<Queue> queues;
};

TEST_F(Order, GivenEventsOfOneNodeOnTheWayThenThoseBeforeThemHaveEnded) {
  std::vector<char> data(1U << 20U);
  const Mem mem = buffer(data.size(), data.data());
  for (int i = 0; i < rounds; ++i) {
    const Event first = large_read(queues[0], mem, data.data(), data.size());
    const Event second = marker(queues[1], {first});
    const Queue other = make_queue(0, devices()[1]);
    const Event third = marker(other, {second});
    ASSERT_CL(clWaitForEvents(1, third.ptr()));
    ASSERT_EQ(CL_COMPLETE, status_of(second)) << "round " << i;
    ASSERT_EQ(CL_COMPLETE, status_of(first)) << "round " << i;
  }
}

TEST_F(Order, GivenMarkerInOutOfOrderQueueThenWhatItsCommandsWaitedForHasEnded) {
  std::vector<char> data(1U << 20U);
  const char fill = 1;
  const Mem mem = buffer(data.size(), data.data());
  const Mem other = buffer<char>(1);
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, devices()[1]);
  for (int i = 0; i < rounds; ++i) {
    const Event first = large_read(queues[0], mem, data.data(), data.size());
    ASSERT_CL(clEnqueueFillBuffer(any_order, other, &fill, 1, 0, 1, 1, first.ptr(), nullptr));
    Event last;
    if (i % 2 == 0) {
      last = marker(any_order, {});
    } else {
      ASSERT_CL(clEnqueueBarrierWithWaitList(any_order, 0, nullptr, nullptr));
      ASSERT_CL(clEnqueueFillBuffer(any_order, other, &fill, 1, 0, 1, 0, nullptr, last.out()));
    }
    ASSERT_CL(clWaitForEvents(1, last.ptr()));
    ASSERT_EQ(CL_COMPLETE, status_of(first)) << "round " << i;
  }
}

TEST_F(Order, GivenReadsOfTwoNodesToTheSameMemoryThenTheLaterOneIsThere) {
  std::vector<char> ones(1U << 20U, 1);
  std::vector<char> twos(64, 2);
  const Mem large = buffer(ones.size(), ones.data());
  const Mem small = buffer(twos.size(), twos.data());
  std::vector<char> data(ones.size());
  for (int i = 0; i < rounds; ++i) {
    std::memset(data.data(), 0, data.size());
    const Event first = large_read(queues[0], large, data.data(), data.size());
    Event second;
    ASSERT_CL(clEnqueueReadBuffer(queues[1], small, CL_FALSE, 0, twos.size(), data.data() + ones.size() - 64,
                                  1, first.ptr(), second.out()));
    ASSERT_CL(clWaitForEvents(1, second.ptr()));
    ASSERT_EQ(twos, std::vector<char>(data.end() - 64, data.end())) << "round " << i;
    ASSERT_EQ(1, data.front()) << "round " << i;
  }
}

}  // namespace clique::test
