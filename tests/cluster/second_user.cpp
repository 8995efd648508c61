// Content that commands without events have written on one node, before another node uses the context's
// memory.
#include <array>
#include <numeric>
#include <thread>
#include <vector>

#include "../api/helpers.hpp"

namespace clique::test {

class SecondUser : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) return;
    if (devices().size() < 2) GTEST_SKIP() << "needs a platform with two devices or more";
  }
  /// A new context, whose memory no device has used.
  void renew(cl_command_queue_properties properties) {
    const std::array<cl_device_id, 2> both{devices()[0], devices()[1]};
    cl_int err = CL_SUCCESS;
    context = Context(clCreateContext(nullptr, 2, both.data(), nullptr, nullptr, &err));
    ASSERT_EQ(CL_SUCCESS, err);
    first = make_queue(properties, both[0]);
    second = make_queue(0, both[1]);
  }
  /// Fills the buffer several times, the last time with the value, without an event.
  void fill(cl_mem mem, int value) {
    for (const int each : {value + 1, value + 2, value})
      ASSERT_CL(
          clEnqueueFillBuffer(first, mem, &each, sizeof each, 0, count * sizeof(int), 0, nullptr, nullptr));
  }
  std::vector<int> read(cl_mem mem, const std::vector<cl_event>& waits) {
    std::vector<int> data(count);
    EXPECT_CL(clEnqueueReadBuffer(second, mem, CL_TRUE, 0, count * sizeof(int), data.data(),
                                  static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(),
                                  nullptr));
    return data;
  }

  static constexpr size_t count = size_t{1} << 20U;
  static constexpr int rounds = 20;
  Queue first;
  Queue second;
};

TEST_F(SecondUser, GivenWritesBeforeAMarkerThenTheOtherNodeHasThemAfterIt) {
  for (int i = 0; i < rounds; ++i) {
    renew(0);
    const Mem mem = buffer<int>(count);
    fill(mem, i);
    Event marker;
    ASSERT_CL(clEnqueueMarkerWithWaitList(first, 0, nullptr, marker.out()));
    ASSERT_EQ(read(mem, {marker}), std::vector<int>(count, i)) << "round " << i;
    fill(mem, -i);
    ASSERT_CL(clEnqueueMarkerWithWaitList(first, 0, nullptr, marker.out()));
    ASSERT_EQ(read(mem, {marker}), std::vector<int>(count, -i)) << "round " << i;
  }
}

TEST_F(SecondUser, GivenHostContentThenPartsThatWereWrittenAreNew) {
  for (int i = 0; i < rounds; ++i) {
    renew(0);
    std::vector<int> expected(count);
    std::iota(expected.begin(), expected.end(), i);
    const Mem mem = buffer<int>(count, expected.data(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR);
    std::fill_n(expected.begin() + 1000, 1000, i);
    ASSERT_CL(
        clEnqueueFillBuffer(first, mem, &i, sizeof i, 1000 * sizeof i, 1000 * sizeof i, 0, nullptr, nullptr));
    Event marker;
    ASSERT_CL(clEnqueueMarkerWithWaitList(first, 0, nullptr, marker.out()));
    ASSERT_EQ(read(mem, {marker}), expected) << "round " << i;
  }
}

TEST_F(SecondUser, GivenCommandThatAUserEventHoldsBackThenTheOtherNodeDoesNotWaitForIt) {
  renew(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const Mem mem = buffer<int>(count);
  const Mem other = buffer<int>(count);
  const int one = 1;
  ASSERT_CL(clEnqueueFillBuffer(first, mem, &one, sizeof one, 0, count * sizeof(int), 0, nullptr, nullptr));
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(first, 0, nullptr, marker.out()));
  Gate gate(context);
  const int value = 2;
  ASSERT_CL(clEnqueueFillBuffer(first, other, &value, sizeof value, 0, count * sizeof(int), 1, gate.ptr(),
                                nullptr));
  EXPECT_EQ(read(mem, {marker}), std::vector<int>(count, 1));
  gate.open();
  ASSERT_CL(clFinish(first));
  EXPECT_EQ(read(other, {}), std::vector<int>(count, 2));
}

TEST_F(SecondUser, GivenThreadsThatUseTheirOwnNodesThenNothingIsLost) {
  for (int i = 0; i < rounds; ++i) {
    renew(0);
    const Mem mine = buffer<int>(count);
    const Mem yours = buffer<int>(count);
    // One thread keeps writing while the other one begins to use the second node.
    std::thread writer([&] {
      for (int k = 0; k < 20; ++k) fill(mine, i + k);
    });
    const int value = i;
    ASSERT_CL(clEnqueueFillBuffer(second, yours, &value, sizeof value, 0, count * sizeof(int), 0, nullptr,
                                  nullptr));
    EXPECT_EQ(read(yours, {}), std::vector<int>(count, i));
    writer.join();
    Event marker;
    ASSERT_CL(clEnqueueMarkerWithWaitList(first, 0, nullptr, marker.out()));
    ASSERT_EQ(read(mine, {marker}), std::vector<int>(count, i + 19)) << "round " << i;
  }
}

}  // namespace clique::test
