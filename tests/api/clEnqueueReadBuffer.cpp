// clEnqueueReadBuffer: OpenCL 3.0, section 5.2.2.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <thread>

#include "checks.hpp"

namespace clique::test::suite_clEnqueueReadBuffer {

class clEnqueueReadBuffer : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    data.resize(1000);
    std::iota(data.begin(), data.end(), 7);
    mem = buffer(data.size(), data.data());
    bytes = data.size() * sizeof(cl_int);
    out.assign(data.size(), -1);
  }
  cl_int read_at(cl_mem from, size_t offset, size_t size, void* ptr) {
    return ::clEnqueueReadBuffer(queue, from, CL_TRUE, offset, size, ptr, 0, nullptr, nullptr);
  }
  std::vector<cl_int> data;
  std::vector<cl_int> out;
  Mem mem;
  size_t bytes = 0;
};

TEST_F(clEnqueueReadBuffer, GivenBlockingReadThenDataIsThere) {
  EXPECT_CL(read_at(mem, 0, bytes, out.data()));
  EXPECT_EQ(data, out);
}

TEST_F(clEnqueueReadBuffer, GivenNonBlockingReadThenDataIsThereWhenTheEventCompletes) {
  Event event;
  EXPECT_CL(::clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, bytes, out.data(), 0, nullptr, event.out()));
  EXPECT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(data, out);
}

TEST_F(clEnqueueReadBuffer, GivenBlockingReadThenItsEventIsComplete) {
  Event event;
  EXPECT_CL(::clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, bytes, out.data(), 0, nullptr, event.out()));
  EXPECT_EQ(CL_COMPLETE, status_of(event));
}

TEST_F(clEnqueueReadBuffer, GivenPartThenOnlyThatPartIsWritten) {
  EXPECT_CL(read_at(mem, 10 * sizeof(cl_int), 5 * sizeof(cl_int), out.data() + 3));
  for (size_t i = 0; i < out.size(); ++i) {
    const bool inside = i >= 3 && i < 8;
    EXPECT_EQ(inside ? data[i + 7] : -1, out[i]) << i;
  }
}

TEST_F(clEnqueueReadBuffer, GivenOddOffsetsAndSizesThenBytesAreExact) {
  const auto* expected = reinterpret_cast<const unsigned char*>(data.data());
  for (const size_t offset : {size_t{0}, size_t{1}, size_t{3}, size_t{127}, bytes - 13}) {
    for (const size_t size : {size_t{1}, size_t{2}, size_t{13}}) {
      std::vector<unsigned char> part(size + 2, 0xA5);
      ASSERT_CL(read_at(mem, offset, size, part.data() + 1));
      EXPECT_EQ(0, std::memcmp(expected + offset, part.data() + 1, size)) << offset << " " << size;
      EXPECT_EQ(0xA5, part.front());
      EXPECT_EQ(0xA5, part.back());
    }
  }
}

TEST_F(clEnqueueReadBuffer, GivenLargeBufferThenAllOfItArrives) {
  std::vector<cl_uint> large((5U << 20) / sizeof(cl_uint) + 3);
  std::iota(large.begin(), large.end(), 0U);
  const Mem big = buffer(large.size(), large.data());
  EXPECT_EQ(large, read<cl_uint>(big, large.size()));
}

TEST_F(clEnqueueReadBuffer, GivenManyNonBlockingReadsThenAllArrive) {
  for (size_t i = 0; i < data.size(); ++i) {
    ASSERT_CL(::clEnqueueReadBuffer(queue, mem, CL_FALSE, i * sizeof(cl_int), sizeof(cl_int), &out[i], 0,
                                    nullptr, nullptr));
  }
  ASSERT_CL(clFinish(queue));
  EXPECT_EQ(data, out);
}

TEST_F(clEnqueueReadBuffer, GivenBlockingReadsOfFewBytesThenEachHasWhatWasWrittenBefore) {
  for (cl_int i = 0; i < 2000; ++i) {
    const size_t count = 1U << static_cast<unsigned>(i % 8);
    const std::vector<cl_int> values(count, i);
    ASSERT_CL(::clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, count * sizeof(cl_int), values.data(), 0,
                                     nullptr, nullptr));
    ASSERT_CL(read_at(mem, 0, count * sizeof(cl_int), out.data()));
    ASSERT_TRUE(std::equal(values.begin(), values.end(), out.begin())) << i;
  }
}

TEST_F(clEnqueueReadBuffer, GivenBlockingReadsOfFewBytesThenTheirMemoryIsTheApplicationsAgain) {
  for (cl_int i = 0; i < 1000; ++i) {
    ASSERT_CL(read_at(mem, 0, sizeof(cl_int), &out[static_cast<size_t>(i)]));
    ASSERT_EQ(data[0], out[static_cast<size_t>(i)]);
    out[static_cast<size_t>(i)] = i;
  }
  EXPECT_CL(clFinish(queue));
  for (cl_int i = 0; i < 1000; ++i) ASSERT_EQ(i, out[static_cast<size_t>(i)]);
}

TEST_F(clEnqueueReadBuffer, GivenCommandsBeforeABlockingReadOfFewBytesThenTheyHaveEnded) {
  const cl_int pattern = 3;
  for (int i = 0; i < 200; ++i) {
    cl_int value = 0;
    Event fill;
    Event earlier;
    std::vector<cl_int> elsewhere(100, -1);
    ASSERT_CL(clEnqueueFillBuffer(queue, mem, &pattern, sizeof pattern, sizeof(cl_int), sizeof pattern, 0,
                                  nullptr, fill.out()));
    ASSERT_CL(::clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, elsewhere.size() * sizeof(cl_int),
                                    elsewhere.data(), 0, nullptr, i % 2 == 0 ? earlier.out() : nullptr));
    ASSERT_CL(read_at(mem, sizeof(cl_int), sizeof value, &value));
    EXPECT_EQ(pattern, value);
    EXPECT_EQ(CL_COMPLETE, status_of(fill));
    if (earlier.get() != nullptr) {
      EXPECT_EQ(CL_COMPLETE, status_of(earlier));
    }
    EXPECT_EQ(data.front(), elsewhere.front());
    EXPECT_EQ(data[99], elsewhere.back());
    // No command comes before it.
    ASSERT_CL(read_at(mem, 0, sizeof value, &value));
    EXPECT_EQ(data.front(), value);
  }
}

TEST_F(clEnqueueReadBuffer, GivenSeveralThreadsThenEachReadsItsOwnFewBytes) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (size_t thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      const Queue own = thread % 2 == 0 ? make_queue() : Queue();
      for (size_t i = 0; i < 500; ++i) {
        const size_t at = (thread * 250 + i) % data.size();
        cl_int value = 0;
        const cl_int status =
            ::clEnqueueReadBuffer(thread % 2 == 0 ? own.get() : queue.get(), mem, CL_TRUE,
                                  at * sizeof(cl_int), sizeof value, &value, 0, nullptr, nullptr);
        if (status != CL_SUCCESS || value != data[at]) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0, wrong);
}

TEST_F(clEnqueueReadBuffer, GivenAnotherReadToTheSameMemoryThatWaitsThenABlockingReadDoesNot) {
  const Event gate = user_event();
  const Queue other(clCreateCommandQueue(context, device, 0, nullptr));
  Event first;
  EXPECT_CL(::clEnqueueReadBuffer(queue, mem, CL_FALSE, 0, bytes, out.data(), 1, gate.ptr(), first.out()));
  EXPECT_CL(::clEnqueueReadBuffer(other, mem, CL_TRUE, 0, bytes, out.data(), 0, nullptr, nullptr));
  EXPECT_EQ(data, out);
  EXPECT_GT(status_of(first), CL_COMPLETE);
  EXPECT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  EXPECT_CL(clWaitForEvents(1, first.ptr()));
}

TEST_F(clEnqueueReadBuffer, GivenQueueOfEachDeviceThenSameData) {
  for (const cl_device_id each : devices()) {
    queue = make_queue(0, each);
    EXPECT_CL(read_at(mem, 0, bytes, out.data()));
    EXPECT_EQ(data, out);
    out.assign(out.size(), -1);
  }
}

TEST_F(clEnqueueReadBuffer, GivenRegionOutsideTheBufferThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, read_at(mem, 0, bytes + 1, out.data()));
  EXPECT_EQ(CL_INVALID_VALUE, read_at(mem, bytes, 1, out.data()));
  EXPECT_EQ(CL_INVALID_VALUE, read_at(mem, bytes - 1, 2, out.data()));
  EXPECT_EQ(CL_INVALID_VALUE, read_at(mem, 1, SIZE_MAX, out.data())) << "offset + size wraps around";
  EXPECT_EQ(CL_INVALID_VALUE, read_at(mem, SIZE_MAX - 3, 8, out.data())) << "offset + size wraps around";
  EXPECT_EQ(std::vector<cl_int>(out.size(), -1), out);
}

TEST_F(clEnqueueReadBuffer, GivenNoPointerThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, read_at(mem, 0, 4, nullptr));
}

TEST_F(clEnqueueReadBuffer, GivenObjectThatIsNoBufferThenInvalidMemObject) {
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, read_at(nullptr, 0, 4, out.data()));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, read_at(foreign_handle<cl_mem>(), 0, 4, out.data()));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, read_at(reinterpret_cast<cl_mem>(queue.get()), 0, 4, out.data()));
}

TEST_F(clEnqueueReadBuffer, GivenBufferThatTheHostMayNotReadThenInvalidOperation) {
  for (const cl_mem_flags flags : {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS}) {
    const Mem closed = buffer<cl_int>(4, nullptr, flags);
    EXPECT_EQ(CL_INVALID_OPERATION, read_at(closed, 0, 4, out.data())) << flags;
  }
  const Mem open = buffer<cl_int>(4, nullptr, CL_MEM_HOST_READ_ONLY);
  EXPECT_CL(read_at(open, 0, 4, out.data()));
}

TEST_F(clEnqueueReadBuffer, GivenCallThenRulesOfEveryEnqueueHold) {
  const auto enqueue = [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    return ::clEnqueueReadBuffer(on, mem, CL_FALSE, 0, bytes, out.data(), count, list, event);
  };
  expect_enqueue_rules(context, device, CL_COMMAND_READ_BUFFER, enqueue);
  EXPECT_EQ(data, out);
}

TEST_F(clEnqueueReadBuffer, GivenFailedEventInWaitListThenBlockingReadReportsIt) {
  expect_blocking_reports_failed_event(
      context, device, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
        return ::clEnqueueReadBuffer(on, mem, CL_TRUE, 0, bytes, out.data(), count, list, event);
      });
  EXPECT_EQ(std::vector<cl_int>(out.size(), -1), out);
}

TEST_F(clEnqueueReadBuffer, GivenFailedEventInWaitListThenTheReadFailsToo) {
  expect_failed_event_ends_command(
      context, device, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
        return ::clEnqueueReadBuffer(on, mem, CL_FALSE, 0, bytes, out.data(), count, list, event);
      });
  EXPECT_EQ(std::vector<cl_int>(out.size(), -1), out);
}

TEST_F(clEnqueueReadBuffer, GivenBufferThatTheHostMayOnlyReadThenItsInitialContentIsThere) {
  std::vector<cl_int> content(64);
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<cl_int>(i * 3);
  const Mem only_read =
      buffer<cl_int>(content.size(), content.data(), CL_MEM_READ_WRITE | CL_MEM_HOST_READ_ONLY);
  EXPECT_EQ(content, read<cl_int>(only_read, content.size()));
}

}  // namespace clique::test::suite_clEnqueueReadBuffer
