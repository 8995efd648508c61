// clEnqueueWriteBuffer: OpenCL 3.0, section 5.2.2.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include "checks.hpp"

namespace clique::test::suite_clEnqueueWriteBuffer {

class clEnqueueWriteBuffer : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    data.resize(1000);
    std::iota(data.begin(), data.end(), 7);
    bytes = data.size() * sizeof(cl_int);
    zeros.assign(data.size(), 0);
    mem = buffer(zeros.size(), zeros.data());
  }
  cl_int write_at(cl_mem to, size_t offset, size_t size, const void* ptr) {
    return ::clEnqueueWriteBuffer(queue, to, CL_TRUE, offset, size, ptr, 0, nullptr, nullptr);
  }
  std::vector<cl_int> data;
  std::vector<cl_int> zeros;
  Mem mem;
  size_t bytes = 0;
};

TEST_F(clEnqueueWriteBuffer, GivenBlockingWriteThenPointerMayBeReusedAtOnce) {
  auto source = data;
  EXPECT_CL(write_at(mem, 0, bytes, source.data()));
  std::fill(source.begin(), source.end(), -1);
  EXPECT_EQ(data, read<cl_int>(mem, data.size()));
}

TEST_F(clEnqueueWriteBuffer, GivenBlockingWriteThenItsEventIsComplete) {
  Event event;
  ASSERT_CL(::clEnqueueWriteBuffer(queue, mem, CL_TRUE, 0, bytes, data.data(), 0, nullptr, event.out()));
  EXPECT_EQ(CL_COMPLETE, status_of(event));
}

TEST_F(clEnqueueWriteBuffer, GivenNonBlockingWriteThenDataIsThereWhenTheEventCompletes) {
  auto source = data;
  Event event;
  EXPECT_CL(::clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, bytes, source.data(), 0, nullptr, event.out()));
  EXPECT_CL(clWaitForEvents(1, event.ptr()));
  std::fill(source.begin(), source.end(), -1);
  EXPECT_EQ(data, read<cl_int>(mem, data.size()));
}

// The memory belongs to the commands until they complete, and a write may use what the read before it puts
// there.
TEST_F(clEnqueueWriteBuffer, GivenReadIntoThePointerBeforeItThenTheWriteTakesWhatWasRead) {
  const Mem source = buffer(data.size(), data.data());
  for (const cl_device_id reader : devices()) {
    for (const cl_device_id writer : devices()) {
      const Queue read_queue = make_queue(0, reader);
      const Queue write_queue = make_queue(0, writer);
      const Mem target = buffer<cl_int>(data.size());
      std::vector<cl_int> between(data.size(), -1);
      const Event gate = user_event();
      Event was_read;
      Event was_written;
      ASSERT_CL(clEnqueueReadBuffer(read_queue, source, CL_FALSE, 0, bytes, between.data(), 1, gate.ptr(),
                                    was_read.out()));
      ASSERT_CL(::clEnqueueWriteBuffer(write_queue, target, CL_FALSE, 0, bytes, between.data(), 1,
                                       was_read.ptr(), was_written.out()));
      ASSERT_CL(clFlush(read_queue));
      ASSERT_CL(clFlush(write_queue));
      ASSERT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
      ASSERT_CL(clWaitForEvents(1, was_written.ptr()));
      EXPECT_EQ(data, read<cl_int>(target, data.size()));
    }
  }
}

TEST_F(clEnqueueWriteBuffer, GivenPartThenTheRestStays) {
  EXPECT_CL(write_at(mem, 10 * sizeof(cl_int), 5 * sizeof(cl_int), data.data()));
  const auto result = read<cl_int>(mem, data.size());
  for (size_t i = 0; i < result.size(); ++i) {
    const bool inside = i >= 10 && i < 15;
    EXPECT_EQ(inside ? data[i - 10] : 0, result[i]) << i;
  }
}

TEST_F(clEnqueueWriteBuffer, GivenOddOffsetsAndSizesThenBytesAreExact) {
  std::vector<unsigned char> expected(bytes, 0);
  const std::vector<unsigned char> part = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
  for (const size_t offset : {size_t{1}, size_t{27}, size_t{127}, bytes - 13}) {
    ASSERT_CL(write_at(mem, offset, part.size(), part.data()));
    std::copy(part.begin(), part.end(), expected.begin() + offset);
  }
  EXPECT_EQ(expected, read<unsigned char>(mem, bytes));
}

TEST_F(clEnqueueWriteBuffer, GivenLargeBufferThenAllOfItArrives) {
  std::vector<cl_uint> large((5U << 20) / sizeof(cl_uint) + 3);
  std::iota(large.begin(), large.end(), 0U);
  const Mem big = buffer<cl_uint>(large.size());
  EXPECT_CL(write_at(big, 0, large.size() * sizeof(cl_uint), large.data()));
  EXPECT_EQ(large, read<cl_uint>(big, large.size()));
}

TEST_F(clEnqueueWriteBuffer, GivenManyNonBlockingWritesThenTheLastOfEachPlaceWins) {
  std::vector<cl_int> values(2000);
  std::iota(values.begin(), values.end(), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    ASSERT_CL(::clEnqueueWriteBuffer(queue, mem, CL_FALSE, (i % 1000) * sizeof(cl_int), sizeof(cl_int),
                                     &values[i], 0, nullptr, nullptr));
  }
  EXPECT_EQ(std::vector<cl_int>(values.begin() + 1000, values.end()), read<cl_int>(mem, 1000));
}

TEST_F(clEnqueueWriteBuffer, GivenWritesOfDifferentPartsByAllDevicesThenTheyAllCount) {
  const size_t parts = 8;
  const size_t each = data.size() / parts;
  for (size_t i = 0; i < parts; ++i) {
    queue = make_queue(0, devices()[i % devices().size()]);
    ASSERT_CL(write_at(mem, i * each * sizeof(cl_int), each * sizeof(cl_int), data.data() + i * each));
  }
  for (const cl_device_id reader : devices()) {
    queue = make_queue(0, reader);
    EXPECT_EQ(data, read<cl_int>(mem, data.size()));
  }
}

TEST_F(clEnqueueWriteBuffer, GivenRegionOutsideTheBufferThenInvalidValueAndNothingIsWritten) {
  std::vector<cl_int> more(data.size() + 1, -1);
  EXPECT_EQ(CL_INVALID_VALUE, write_at(mem, 0, bytes + 1, more.data()));
  EXPECT_EQ(CL_INVALID_VALUE, write_at(mem, bytes, 1, more.data()));
  EXPECT_EQ(CL_INVALID_VALUE, write_at(mem, bytes - 1, 2, more.data()));
  EXPECT_EQ(CL_INVALID_VALUE, write_at(mem, 1, SIZE_MAX, more.data())) << "offset + size wraps around";
  EXPECT_EQ(CL_INVALID_VALUE, write_at(mem, SIZE_MAX - 3, 8, more.data())) << "offset + size wraps around";
  EXPECT_EQ(zeros, read<cl_int>(mem, data.size()));
}

TEST_F(clEnqueueWriteBuffer, GivenNoPointerThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, write_at(mem, 0, 4, nullptr));
}

TEST_F(clEnqueueWriteBuffer, GivenBlockingWriteThenOtherQueuesSeeIt) {
  // A blocking write is complete when it returns; no event orders the read after it.
  const auto expect_seen_by = [&](cl_command_queue reader, cl_int value) {
    cl_int back = -1;
    ASSERT_CL(::clEnqueueReadBuffer(reader, mem, CL_TRUE, 0, sizeof back, &back, 0, nullptr, nullptr));
    ASSERT_EQ(value, back);
  };
  cl_int value = 100;
  for (int round = 0; round < 50; ++round) {
    ASSERT_CL(write_at(mem, 0, sizeof value, &++value));
    // This queue is created after the write.
    const Queue later = make_queue();
    expect_seen_by(later, value);
    ASSERT_CL(write_at(mem, 0, sizeof value, &++value));
    expect_seen_by(later, value);
    queue.reset();
    expect_seen_by(later, value);
    queue = make_queue();
  }
}

TEST_F(clEnqueueWriteBuffer, GivenBlockingWriteWhenItsQueueIsReleasedThenTheNextQueueSeesIt) {
  for (cl_int value = 1; value <= 50; ++value) {
    ASSERT_CL(write_at(mem, 0, sizeof value, &value));
    queue.reset();
    queue = make_queue();
    ASSERT_EQ(value, read<cl_int>(mem, 1).front());
  }
}

TEST_F(clEnqueueWriteBuffer, GivenBlockingWriteBeforeABlockedKernelThenAnotherQueueCanBeMade) {
  const Event gate = user_event();
  const cl_int value = 5;
  ASSERT_CL(write_at(mem, 0, sizeof value, &value));
  ASSERT_CL(::clEnqueueMarkerWithWaitList(queue, 1, gate.ptr(), nullptr));
  const Queue other = make_queue();
  cl_int back = 0;
  EXPECT_CL(::clEnqueueReadBuffer(other, mem, CL_TRUE, 0, sizeof back, &back, 0, nullptr, nullptr));
  EXPECT_EQ(value, back);
  EXPECT_CL(::clSetUserEventStatus(gate, CL_COMPLETE));
}

TEST_F(clEnqueueWriteBuffer, GivenObjectThatIsNoBufferThenInvalidMemObject) {
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, write_at(nullptr, 0, 4, data.data()));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, write_at(foreign_handle<cl_mem>(), 0, 4, data.data()));
}

TEST_F(clEnqueueWriteBuffer, GivenBufferThatTheHostMayNotWriteThenInvalidOperation) {
  for (const cl_mem_flags flags : {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS}) {
    const Mem closed = buffer<cl_int>(4, nullptr, flags);
    EXPECT_EQ(CL_INVALID_OPERATION, write_at(closed, 0, 4, data.data())) << flags;
  }
  const Mem open = buffer<cl_int>(4, nullptr, CL_MEM_HOST_WRITE_ONLY);
  EXPECT_CL(write_at(open, 0, 4, data.data()));
}

TEST_F(clEnqueueWriteBuffer, GivenReadToTheSameMemoryThatWaitsThenABlockingWriteDoesNot) {
  std::vector<unsigned char> host(100'000, 3);
  const Mem from = buffer(host.size(), host.data());
  const Mem to = buffer(host.size(), host.data());
  const Event gate = user_event();
  const Queue other(clCreateCommandQueue(context, device, 0, nullptr));
  Event read;
  EXPECT_CL(
      ::clEnqueueReadBuffer(queue, from, CL_FALSE, 0, host.size(), host.data(), 1, gate.ptr(), read.out()));
  EXPECT_CL(::clEnqueueWriteBuffer(other, to, CL_TRUE, 0, host.size(), host.data(), 0, nullptr, nullptr));
  EXPECT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  EXPECT_CL(clWaitForEvents(1, read.ptr()));
}

TEST_F(clEnqueueWriteBuffer, GivenWriteOfWhatAReadIsTakingThenItDoesNotWaitForOthersOfAnUnorderedQueue) {
  // Large, so that the read is still under way when the write is enqueued.
  std::vector<unsigned char> host(64U << 20U, 3);
  const size_t part = 100'000;
  const Mem from = buffer(host.size(), host.data());
  const Mem to = buffer(part, host.data());
  const Event gate = user_event();
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  // A write into memory whose data has arrived already has nothing to wait for.
  ASSERT_CL(::clEnqueueWriteBuffer(any_order, to, CL_TRUE, 0, part, host.data(), 0, nullptr, nullptr));
  ASSERT_CL(clFinish(any_order));
  ASSERT_CL(clEnqueueMarkerWithWaitList(any_order, 1, gate.ptr(), nullptr));
  ASSERT_CL(
      ::clEnqueueReadBuffer(any_order, from, CL_FALSE, 0, host.size(), host.data(), 0, nullptr, nullptr));
  ASSERT_CL(::clEnqueueWriteBuffer(any_order, to, CL_TRUE, 0, part, host.data(), 0, nullptr, nullptr));
  ASSERT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_CL(clFinish(any_order));
}

TEST_F(clEnqueueWriteBuffer, GivenCallThenRulesOfEveryEnqueueHold) {
  const auto enqueue = [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    return ::clEnqueueWriteBuffer(on, mem, CL_FALSE, 0, bytes, data.data(), count, list, event);
  };
  expect_enqueue_rules(context, device, CL_COMMAND_WRITE_BUFFER, enqueue);
  EXPECT_EQ(data, read<cl_int>(mem, data.size()));
}

TEST_F(clEnqueueWriteBuffer, GivenFailedEventInWaitListThenBlockingWriteReportsIt) {
  expect_blocking_reports_failed_event(
      context, device, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
        return ::clEnqueueWriteBuffer(on, mem, CL_TRUE, 0, bytes, data.data(), count, list, event);
      });
  EXPECT_EQ(zeros, read<cl_int>(mem, data.size()));
}

TEST_F(clEnqueueWriteBuffer, GivenFailedEventInWaitListThenNothingIsWritten) {
  expect_failed_event_ends_command(
      context, device, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
        return ::clEnqueueWriteBuffer(on, mem, CL_FALSE, 0, bytes, data.data(), count, list, event);
      });
  EXPECT_EQ(zeros, read<cl_int>(mem, data.size()));
}

}  // namespace clique::test::suite_clEnqueueWriteBuffer
