// Transfers that travel beside the commands: they keep their place in their queue, and other queues do not
// wait for them.
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <thread>

#include "checks.hpp"

namespace clique::test::suite_large_transfers {

class LargeTransfers : public ApiTest {
 protected:
  static constexpr size_t kCount = (24U << 20U) / sizeof(cl_uint) + 5;
  static constexpr size_t kBytes = kCount * sizeof(cl_uint);

  static std::vector<cl_uint> numbers(cl_uint first) {
    std::vector<cl_uint> result(kCount);
    std::iota(result.begin(), result.end(), first);
    return result;
  }
  Mem large() { return buffer<cl_uint>(kCount); }
  cl_int write(cl_command_queue to, cl_mem mem, const std::vector<cl_uint>& from, cl_bool blocking = CL_FALSE,
               const std::vector<cl_event>& waits = {}, cl_event* event = nullptr) {
    return clEnqueueWriteBuffer(to, mem, blocking, 0, kBytes, from.data(), static_cast<cl_uint>(waits.size()),
                                waits.empty() ? nullptr : waits.data(), event);
  }
  cl_int read(cl_command_queue from, cl_mem mem, std::vector<cl_uint>& to, cl_bool blocking = CL_FALSE,
              const std::vector<cl_event>& waits = {}, cl_event* event = nullptr) {
    to.assign(kCount, 0);
    return clEnqueueReadBuffer(from, mem, blocking, 0, kBytes, to.data(), static_cast<cl_uint>(waits.size()),
                               waits.empty() ? nullptr : waits.data(), event);
  }
};

TEST_F(LargeTransfers, GivenWritesKernelsAndReadsInOneQueueThenEachSeesTheOneBefore) {
  const Program program = build("kernel void add(global uint* a, uint n) { a[get_global_id(0)] += n; }");
  const Kernel add = kernel(program, "add");
  const Mem mem = large();
  const size_t global = kCount;
  std::vector<std::vector<cl_uint>> sources;
  std::vector<std::vector<cl_uint>> results(4);
  for (cl_uint i = 0; i < results.size(); ++i) sources.push_back(numbers(1000 * i));
  for (cl_uint i = 0; i < results.size(); ++i) {
    const cl_uint added = i + 1;
    ASSERT_CL(write(queue, mem, sources[i]));
    ASSERT_CL(clSetKernelArg(add, 0, sizeof(cl_mem), mem.ptr()));
    ASSERT_CL(clSetKernelArg(add, 1, sizeof added, &added));
    ASSERT_CL(clEnqueueNDRangeKernel(queue, add, 1, nullptr, &global, nullptr, 0, nullptr, nullptr));
    ASSERT_CL(read(queue, mem, results[i]));
  }
  ASSERT_CL(clFinish(queue));
  for (cl_uint i = 0; i < results.size(); ++i) EXPECT_EQ(numbers(1000 * i + i + 1), results[i]) << i;
}

// More transfers than may be under way at a time.
TEST_F(LargeTransfers, GivenWritesThatWaitThenOthersGoOn) {
  const Queue other = make_queue(0);
  const Event gate = user_event();
  const auto held = numbers(5);
  std::vector<Mem> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back(large());
    ASSERT_CL(write(queue, waiting.back(), held, CL_FALSE, {gate}));
  }
  const Mem mem = large();
  const auto source = numbers(77);
  std::vector<cl_uint> result;
  ASSERT_CL(write(other, mem, source, CL_TRUE));
  ASSERT_CL(read(other, mem, result, CL_TRUE));
  EXPECT_EQ(source, result);
  ASSERT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  for (const Mem& each : waiting) {
    ASSERT_CL(read(queue, each, result, CL_TRUE));
    EXPECT_EQ(held, result);
  }
}

TEST_F(LargeTransfers, GivenReadThenWhoSeesALaterEventSeesItsData) {
  const Queue other = make_queue(0);
  const auto source = numbers(3);
  const Mem mem = buffer(kCount, source.data());
  std::vector<cl_uint> result;
  for (int round = 0; round < 5; ++round) {
    Event in_order;
    ASSERT_CL(read(queue, mem, result));
    ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, in_order.out()));
    ASSERT_CL(clWaitForEvents(1, in_order.ptr()));
    ASSERT_EQ(source, result) << "a marker in the same queue, round " << round;

    Event done;
    Event elsewhere;
    ASSERT_CL(read(queue, mem, result, CL_FALSE, {}, done.out()));
    ASSERT_CL(clEnqueueMarkerWithWaitList(other, 1, done.ptr(), elsewhere.out()));
    ASSERT_CL(clFlush(queue));
    ASSERT_CL(clWaitForEvents(1, elsewhere.ptr()));
    ASSERT_EQ(source, result) << "a marker in another queue, round " << round;
    ASSERT_EQ(CL_COMPLETE, status_of(done));
  }
}

TEST_F(LargeTransfers, GivenReadOfWhatAWriteIsTakingThenOrderHolds) {
  const auto first = numbers(1);
  const auto second = numbers(2);
  const Mem from = buffer(kCount, first.data());
  const Mem to = large();
  std::vector<cl_uint> between(kCount);
  // The write uses the data that the read puts into the same memory.
  ASSERT_CL(read(queue, from, between));
  ASSERT_CL(write(queue, to, between));
  ASSERT_CL(clFinish(queue));
  std::vector<cl_uint> result;
  ASSERT_CL(read(queue, to, result, CL_TRUE));
  EXPECT_EQ(first, result);
}

TEST_F(LargeTransfers, GivenWaitThatFailsThenTheyFailAndLeaveTheMemoryAlone) {
  const auto content = numbers(9);
  const Mem mem = buffer(kCount, content.data());
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  const Event gate = user_event();
  Event written;
  Event was_read;
  ASSERT_CL(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, kBytes, memory, 1, gate.ptr(), written.out()));
  ASSERT_CL(
      clEnqueueReadBuffer(make_queue(0), mem, CL_FALSE, 0, kBytes, memory, 1, gate.ptr(), was_read.out()));
  ASSERT_CL(clFlush(queue));
  ASSERT_CL(clSetUserEventStatus(gate, -5));
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, written.ptr()));
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, clWaitForEvents(1, was_read.ptr()));
  EXPECT_GT(0, status_of(written));
  EXPECT_GT(0, status_of(was_read));
  // A transfer that still used the memory would crash.
  ASSERT_EQ(0, munmap(memory, kBytes));
  std::vector<cl_uint> result;
  const Queue fresh = make_queue(0);
  ASSERT_CL(read(fresh, mem, result, CL_TRUE));
  EXPECT_EQ(content, result);
}

TEST_F(LargeTransfers, GivenProfilingThenTimesAreInOrderAndTakeIn) {
  const Queue profiled = make_queue(CL_QUEUE_PROFILING_ENABLE);
  const auto source = numbers(0);
  const Mem mem = large();
  std::vector<cl_uint> result;
  Event written;
  Event was_read;
  ASSERT_CL(write(profiled, mem, source, CL_TRUE, {}, written.out()));
  ASSERT_CL(read(profiled, mem, result, CL_TRUE, {}, was_read.out()));
  for (const Event* event : {&written, &was_read}) {
    std::array<cl_ulong, 4> times{};
    const std::array names{CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                           CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    for (size_t i = 0; i < names.size(); ++i)
      ASSERT_CL(clGetEventProfilingInfo(*event, names[i], sizeof(cl_ulong), &times[i], nullptr));
    EXPECT_TRUE(std::is_sorted(times.begin(), times.end()));
    EXPECT_LT(times[2], times[3]) << "a transfer of 24 MiB takes time";
  }
}

TEST_F(LargeTransfers, GivenMemoryOfAnAllocatedHostPointerThenAnyTransferMayUseIt) {
  const Mem pinned = buffer<cl_uint>(2 * kCount, nullptr, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR);
  cl_int err = CL_SUCCESS;
  auto* const host = static_cast<cl_uint*>(clEnqueueMapBuffer(
      queue, pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, 2 * kBytes, 0, nullptr, nullptr, &err));
  ASSERT_CL(err);
  const Mem mem = large();
  for (cl_uint round = 0; round < 3; ++round) {
    std::iota(host, host + kCount, round);
    // The second address does not lie at the beginning of a page.
    ASSERT_CL(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, kBytes, host, 0, nullptr, nullptr));
    ASSERT_CL(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, kBytes, host + kCount - 1, 0, nullptr, nullptr));
    const auto expected = numbers(round);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), host + kCount - 1)) << round;
  }
  // Unmapping writes the memory back to the buffer.
  const std::vector<cl_uint> last(host, host + 2 * kCount);
  ASSERT_CL(clEnqueueUnmapMemObject(queue, pinned, host, 0, nullptr, nullptr));
  EXPECT_EQ(last, ApiTest::read<cl_uint>(pinned, 2 * kCount));
  // Map it again, this time a part and through a sub-buffer.
  const cl_buffer_region region{1U << 20U, kBytes};
  const Mem part(clCreateSubBuffer(pinned, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  ASSERT_CL(err);
  auto* const again = static_cast<cl_uint*>(
      clEnqueueMapBuffer(queue, part, CL_TRUE, CL_MAP_READ, 0, kBytes, 0, nullptr, nullptr, &err));
  ASSERT_CL(err);
  EXPECT_TRUE(std::equal(again, again + kCount, last.begin() + (1U << 20U) / sizeof(cl_uint)));
  ASSERT_CL(clEnqueueUnmapMemObject(queue, part, again, 0, nullptr, nullptr));
}

TEST_F(LargeTransfers, GivenReadsOfAllKindsToAllocatedMemoryThenEachStaysUntilTheNext) {
  constexpr size_t kRow = 64U << 10U;
  constexpr size_t kRows = 8;
  const Mem pinned = buffer<cl_uint>(kCount, nullptr, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR);
  cl_int err = CL_SUCCESS;
  auto* const host = static_cast<cl_uint*>(
      clEnqueueMapBuffer(queue, pinned, CL_TRUE, CL_MAP_WRITE, 0, kBytes, 0, nullptr, nullptr, &err));
  ASSERT_CL(err);
  const auto first = numbers(1);
  const auto second = numbers(2);
  const Mem a = buffer<cl_uint>(kCount, first.data(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR);
  const Mem b = buffer<cl_uint>(kCount, second.data(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR);
  const Mem copy = buffer<cl_uint>(kCount);
  const auto read_rows = [&](cl_mem from) {
    const std::array<size_t, 3> origin{};
    const std::array<size_t, 3> region{kRow, kRows, 1};
    return clEnqueueReadBufferRect(queue, from, CL_FALSE, origin.data(), origin.data(), region.data(), kRow,
                                   0, kRow, 0, host, 0, nullptr, nullptr);
  };
  const auto read_range = [&](cl_mem from, size_t size) {
    return clEnqueueReadBuffer(queue, from, CL_FALSE, 0, size, host, 0, nullptr, nullptr);
  };
  const auto has = [&](const std::vector<cl_uint>& expected, size_t size) {
    return std::equal(host, host + size / sizeof(cl_uint), expected.begin());
  };
  for (int round = 0; round < 20; ++round) {
    for (const size_t size : {size_t{4}, kRow * kRows, kBytes}) {
      ASSERT_CL(read_rows(a));
      ASSERT_CL(read_range(b, size));
      ASSERT_CL(clFinish(queue));
      EXPECT_TRUE(has(second, size)) << round << ' ' << size;
      ASSERT_CL(read_range(a, size));
      ASSERT_CL(clEnqueueWriteBuffer(queue, copy, CL_FALSE, 0, size, host, 0, nullptr, nullptr));
      ASSERT_CL(read_range(a, size));
      ASSERT_CL(read_rows(b));
      ASSERT_CL(clFinish(queue));
      EXPECT_TRUE(has(second, std::min(size, kRow * kRows))) << round << ' ' << size;
      ASSERT_CL(clEnqueueReadBuffer(queue, copy, CL_TRUE, 0, size, host, 0, nullptr, nullptr));
      EXPECT_TRUE(has(first, size)) << round << ' ' << size;
    }
  }
  ASSERT_CL(clEnqueueUnmapMemObject(queue, pinned, host, 0, nullptr, nullptr));
}

TEST_F(LargeTransfers, GivenManyAtATimeFromManyThreadsThenAllArrive) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (cl_uint thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      const Queue own = make_queue(0);
      const Mem mem = large();
      for (cl_uint round = 0; round < 3; ++round) {
        const auto source = numbers(100 * thread + round);
        std::vector<cl_uint> result;
        if (write(own, mem, source) == CL_SUCCESS && read(own, mem, result, CL_TRUE) == CL_SUCCESS &&
            source == result)
          ++right;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(9, right);
}

TEST_F(LargeTransfers, GivenManyOtherEndsMeanwhileThenReadsGoOn) {
  const auto source = numbers(1);
  const Mem mem = large();
  ASSERT_CL(write(queue, mem, source, CL_TRUE));
  std::atomic<bool> enough{false};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 2; ++thread)
    threads.emplace_back([&] {
      const Queue own = make_queue(0);
      const Mem small = buffer<cl_uint>(1);
      const cl_uint zero = 0;
      while (!enough) {
        for (int i = 0; i < 64; ++i) {
          Event end;
          EXPECT_CL(
              clEnqueueFillBuffer(own, small, &zero, sizeof zero, 0, sizeof zero, 0, nullptr, end.out()));
        }
        EXPECT_CL(clFinish(own));
      }
    });
  std::vector<cl_uint> result;
  for (int round = 0; round < 50; ++round) {
    EXPECT_CL(read(queue, mem, result, CL_TRUE));
    EXPECT_EQ(source, result) << round;
  }
  enough = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace clique::test::suite_large_transfers
