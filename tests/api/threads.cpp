// Thread safety: OpenCL 3.0, appendix A.2: every call is thread-safe, except for clSetKernelArg on one kernel
// object.
#include <atomic>
#include <functional>
#include <thread>

#include "helpers.hpp"

namespace clique::test::suite_threads {

class Threads : public ApiTest {
 protected:
  static constexpr int count = 6;
  static constexpr int rounds = 25;
  static constexpr char source[] = R"(
kernel void scale(global int* data, int factor) { data[get_global_id(0)] *= factor; }
kernel void add(global int* sum, int value) { atomic_add(sum, value); }
)";

  /// Runs `body` with 0 to `count` - 1 on as many threads, which start together.
  static void run(const std::function<void(int)>& body) {
    std::atomic<bool> go = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        while (!go) std::this_thread::yield();
        body(i);
      });
    }
    go = true;
    for (std::thread& thread : threads) thread.join();
  }
  /// Writes, scales and reads back on the queue `on`, with objects of its own.
  void expect_scaled(cl_command_queue on, cl_kernel scale, int seed) {
    std::vector<int> data(64);
    std::vector<int> expected(64);
    for (int i = 0; i < 64; ++i) {
      data[i] = seed + i;
      expected[i] = data[i] * (seed + 2);
    }
    const Mem mem = buffer<int>(64);
    const size_t size = data.size() * sizeof(int);
    set_args(scale, mem, seed + 2);
    Event written;
    Event scaled;
    EXPECT_CL(clEnqueueWriteBuffer(on, mem, CL_FALSE, 0, size, data.data(), 0, nullptr, written.out()));
    EXPECT_CL(launch(on, scale, 64, {written}, scaled.out()));
    std::vector<int> back(64);
    EXPECT_CL(clEnqueueReadBuffer(on, mem, CL_TRUE, 0, size, back.data(), 1, scaled.ptr(), nullptr));
    EXPECT_EQ(expected, back);
  }
};

TEST_F(Threads, GivenSharedInOrderQueueThenEveryThreadsResultsAreRight) {
  const Program program = build(source);
  run([&](int thread) {
    const Kernel scale = kernel(program, "scale");
    for (int i = 0; i < rounds; ++i) expect_scaled(queue, scale, thread * 1000 + i);
  });
}

TEST_F(Threads, GivenSharedOutOfOrderQueueThenEveryThreadsResultsAreRight) {
  const Program program = build(source);
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  run([&](int thread) {
    const Kernel scale = kernel(program, "scale");
    for (int i = 0; i < rounds; ++i) expect_scaled(any_order, scale, thread * 1000 + i);
  });
}

TEST_F(Threads, GivenQueuePerThreadOnAllDevicesThenResultsAreRight) {
  const Program program = build(source);
  run([&](int thread) {
    const Queue own = make_queue(0, devices()[thread % devices().size()]);
    const Kernel scale = kernel(program, "scale");
    for (int i = 0; i < rounds; ++i) expect_scaled(own, scale, thread * 1000 + i);
  });
}

TEST_F(Threads, GivenObjectsCreatedAndReleasedOnAllThreadsThenNoneIsLost) {
  const Program program = build(source);
  run([&](int thread) {
    for (int i = 0; i < rounds; ++i) {
      const Queue own = make_queue(i % 2 ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0,
                                   devices()[(thread + i) % devices().size()]);
      const Kernel scale = kernel(program, "scale");
      expect_scaled(own, scale, thread + i);
      const Event event = user_event();
      EXPECT_CL(clSetUserEventStatus(event, CL_COMPLETE));
    }
  });
}

TEST_F(Threads, GivenContextPerThreadThenResultsAreRight) {
  run([&](int thread) {
    const OtherContext own;
    for (int i = 0; i < 5; ++i) {
      const int value = thread * 100 + i;
      int back = 0;
      EXPECT_CL(clEnqueueWriteBuffer(own.queue, own.buffer, CL_FALSE, 0, sizeof value, &value, 0, nullptr,
                                     nullptr));
      EXPECT_CL(
          clEnqueueReadBuffer(own.queue, own.buffer, CL_TRUE, 0, sizeof back, &back, 0, nullptr, nullptr));
      EXPECT_EQ(value, back);
    }
  });
}

TEST_F(Threads, GivenProgramsBuiltOnAllThreadsThenEachHasItsOptions) {
  run([&](int thread) {
    const Program program = build("kernel void k(global int* out) { *out = VALUE; }",
                                  ("-DVALUE=" + std::to_string(thread)).c_str());
    const Kernel k = kernel(program, "k");
    const Mem out = buffer<int>(1);
    set_args(k, out);
    EXPECT_CL(launch(queue, k, 1));
    EXPECT_EQ(thread, read<int>(out, 1).front());
  });
}

TEST_F(Threads, GivenRetainAndReleaseOnAllThreadsThenReferenceCountIsRight) {
  const Mem mem = buffer<int>(1);
  const Event event = user_event();
  const Program program = build(source);
  run([&](int) {
    for (int i = 0; i < 1000; ++i) {
      EXPECT_CL(clRetainMemObject(mem));
      EXPECT_CL(clRetainEvent(event));
      EXPECT_CL(clRetainProgram(program));
      EXPECT_CL(clRetainContext(context));
      EXPECT_CL(clReleaseContext(context));
      EXPECT_CL(clReleaseProgram(program));
      EXPECT_CL(clReleaseEvent(event));
      EXPECT_CL(clReleaseMemObject(mem));
    }
  });
  EXPECT_EQ(1U, info<cl_uint>(clGetMemObjectInfo, mem.get(), CL_MEM_REFERENCE_COUNT));
  EXPECT_EQ(1U, info<cl_uint>(clGetEventInfo, event.get(), CL_EVENT_REFERENCE_COUNT));
  EXPECT_EQ(1U, info<cl_uint>(clGetProgramInfo, program.get(), CL_PROGRAM_REFERENCE_COUNT));
}

TEST_F(Threads, GivenSomeEnqueueAndOthersFinishThenAllCommandsRun) {
  const Program program = build(source);
  const int zero = 0;
  const Mem sum = buffer<int>(1, &zero);
  run([&](int thread) {
    if (thread % 2 == 1) {
      for (int i = 0; i < rounds; ++i) EXPECT_CL(clFinish(queue));
      return;
    }
    const Kernel add = kernel(program, "add");
    set_args(add, sum, thread + 1);
    for (int i = 0; i < rounds; ++i) {
      EXPECT_CL(launch(queue, add, 4));
      EXPECT_CL(clFlush(queue));
    }
  });
  EXPECT_EQ(4 * rounds * (1 + 3 + 5), read<int>(sum, 1).front());
}

TEST_F(Threads, GivenChainHandedFromThreadToThreadThenOrderHolds) {
  const Program program =
      build("kernel void append(global int* list, int value) { list[++list[0]] = value; }");
  const Kernel append = kernel(program, "append");
  std::vector<int> zeros(1 + count * rounds, 0);
  const Mem list = buffer<int>(zeros.size(), zeros.data());
  std::vector<Queue> queues;
  for (int i = 0; i < count; ++i) queues.push_back(make_queue(0, devices()[i % devices().size()]));
  std::mutex mutex;
  std::condition_variable turn_changed;
  int turn = 0;
  Event last;
  run([&](int thread) {
    for (int i = 0; i < rounds; ++i) {
      std::unique_lock lock(mutex);
      turn_changed.wait(lock, [&] { return turn % count == thread; });
      Event next;
      set_args(append, list, turn);
      EXPECT_CL(launch(queues[thread], append, 1,
                       last.get() ? std::vector<cl_event>{last} : std::vector<cl_event>{}, next.out()));
      EXPECT_CL(clFlush(queues[thread]));
      last = std::move(next);
      ++turn;
      turn_changed.notify_all();
    }
  });
  ASSERT_CL(clWaitForEvents(1, last.ptr()));
  std::vector<int> expected = {count * rounds};
  for (int i = 0; i < count * rounds; ++i) expected.push_back(i);
  EXPECT_EQ(expected, read<int>(list, expected.size()));
}

TEST_F(Threads, GivenCallbacksOfCommandsOfAllThreadsThenEachIsCalledOnce) {
  Calls<cl_event> calls;
  const auto notify = [](cl_event event, cl_int, void* data) {
    static_cast<Calls<cl_event>*>(data)->add(event);
  };
  std::vector<std::vector<Event>> events(count);
  run([&](int thread) {
    for (int i = 0; i < rounds; ++i) {
      Event& event = events[thread].emplace_back();
      EXPECT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, event.out()));
      EXPECT_CL(clSetEventCallback(event, CL_COMPLETE, notify, &calls));
    }
    EXPECT_CL(clFlush(queue));
  });
  std::vector<cl_event> called = calls.wait_for(count * rounds);
  std::sort(called.begin(), called.end());
  EXPECT_EQ(size_t{count * rounds}, called.size());
  EXPECT_EQ(called.end(), std::unique(called.begin(), called.end()));
}

}  // namespace clique::test::suite_threads
