// Processes that exit while they use OpenCL, without releasing anything and at any moment, end with the
// status that they chose.
#include <fcntl.h>
#include <spawn.h>

#include <atomic>
#include <cstdlib>

#include "child.hpp"
#include "helpers.hpp"

namespace clique::test::suite_exit {

class Exit : public ApiTest {
 protected:
  static constexpr std::chrono::seconds limit{60};

  void SetUp() override {}

  /// Runs one of the disabled tests below as a process of its own, and returns how it ended.
  static std::string end_of_process(const std::string& test) {
    char self[4096] = {};
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return "no executable";
    std::string filter = "--gtest_filter=ExitChild.DISABLED_" + test;
    std::string also = "--gtest_also_run_disabled_tests";
    char* arguments[] = {self, filter.data(), also.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = -1;
    if (posix_spawn(&child, self, &actions, nullptr, arguments, environ) != 0) child = -1;
    posix_spawn_file_actions_destroy(&actions);
    return end_of(child, limit);
  }
};

/// The processes. Each keeps everything that it created until it exits, and exits with 3 if its own work
/// failed.
class ExitChild : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    mem = buffer<int>(1024);
    program = build(R"(
kernel void k(global int* out) { *out = 1; }
kernel void slow(global int* out) { for (int i = 0; i < 20000000; ++i) atomic_add(out, 1); }
)");
    k = kernel(program, "k");
    set_args(k, mem);
    check(launch(queue, k, 1));
    check(clFinish(queue));
    program_handle = program.release_ownership();
    k_handle = k.release_ownership();
    queue_handle = queue.release_ownership();
    mem_handle = mem.release_ownership();
    context_handle = context.get();
  }
  /// For tests that return: keeps the context, too.
  void TearDown() override { context.release_ownership(); }
  static void check(cl_int err) {
    if (err != CL_SUCCESS) _exit(3);
  }
  [[noreturn]] static void leave() { std::exit(HasFailure() ? 3 : 0); }

  Mem mem;
  Program program;
  Kernel k;
  cl_program program_handle = nullptr;
  cl_kernel k_handle = nullptr;
  cl_command_queue queue_handle = nullptr;
  cl_mem mem_handle = nullptr;
  cl_context context_handle = nullptr;
};

TEST_F(ExitChild, DISABLED_Idle) {
  leave();
}
TEST_F(Exit, GivenNothingReleasedThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("Idle"));
}

TEST_F(ExitChild, DISABLED_ReturnsFromMain) {}
TEST_F(Exit, GivenReturnFromMainThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("ReturnsFromMain"));
}

TEST_F(ExitChild, DISABLED_Unflushed) {
  for (int i = 0; i < 100; ++i) check(launch(queue_handle, k_handle, 1));
  leave();
}
TEST_F(Exit, GivenCommandsThatWereNotFlushedThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("Unflushed"));
}

TEST_F(ExitChild, DISABLED_Running) {
  cl_kernel slow = clCreateKernel(program_handle, "slow", nullptr);
  set_args(slow, mem_handle);
  check(launch(queue_handle, slow, 1));
  check(clFlush(queue_handle));
  leave();
}
TEST_F(Exit, GivenRunningKernelThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("Running"));
}

TEST_F(ExitChild, DISABLED_LargeTransfers) {
  constexpr size_t kBytes = 64 << 20;
  // Never freed: transfers may use them until the end.
  auto& in = *new std::vector<char>(kBytes, 1);
  auto& out = *new std::vector<char>(kBytes);
  cl_mem large = clCreateBuffer(context_handle, CL_MEM_READ_WRITE, kBytes, nullptr, nullptr);
  check(clEnqueueWriteBuffer(queue_handle, large, CL_TRUE, 0, kBytes, in.data(), 0, nullptr, nullptr));
  check(clEnqueueWriteBuffer(queue_handle, large, CL_FALSE, 0, kBytes, in.data(), 0, nullptr, nullptr));
  check(clEnqueueReadBuffer(queue_handle, large, CL_FALSE, 0, kBytes, out.data(), 0, nullptr, nullptr));
  check(clFlush(queue_handle));
  leave();
}
TEST_F(Exit, GivenLargeTransfersUnderWayThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("LargeTransfers"));
}

TEST_F(ExitChild, DISABLED_Blocked) {
  cl_event user = clCreateUserEvent(context_handle, nullptr);
  check(launch(queue_handle, k_handle, 1, {user}));
  check(clFlush(queue_handle));
  leave();
}
TEST_F(Exit, GivenCommandBlockedByUserEventThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("Blocked"));
}

TEST_F(ExitChild, DISABLED_PendingCallback) {
  cl_event user = clCreateUserEvent(context_handle, nullptr);
  cl_event marker = nullptr;
  check(clEnqueueMarkerWithWaitList(queue_handle, 1, &user, &marker));
  check(clSetEventCallback(marker, CL_COMPLETE, [](cl_event, cl_int, void*) {}, nullptr));
  check(clFlush(queue_handle));
  leave();
}
TEST_F(Exit, GivenPendingCallbackThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("PendingCallback"));
}

TEST_F(ExitChild, DISABLED_ExitInCallback) {
  cl_event marker = nullptr;
  check(clEnqueueMarkerWithWaitList(queue_handle, 0, nullptr, &marker));
  check(clSetEventCallback(marker, CL_COMPLETE, [](cl_event, cl_int, void*) { std::exit(0); }, nullptr));
  check(clFlush(queue_handle));
  for (;;) pause();
}
TEST_F(Exit, GivenExitInCallbackThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("ExitInCallback"));
}

TEST_F(ExitChild, DISABLED_OtherThreadWaits) {
  cl_event user = clCreateUserEvent(context_handle, nullptr);
  check(clEnqueueMarkerWithWaitList(queue_handle, 1, &user, nullptr));
  static std::atomic<bool> waiting = false;
  std::thread([queue = queue_handle] {
    waiting = true;
    clFinish(queue);
  }).detach();
  while (!waiting) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  leave();
}
TEST_F(Exit, GivenThreadThatWaitsInFinishThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("OtherThreadWaits"));
}

TEST_F(ExitChild, DISABLED_OtherThreadEnqueues) {
  static std::atomic<int> enqueued = 0;
  std::thread([queue = queue_handle, k = k_handle] {
    for (;;) {
      launch(queue, k, 1);
      clFinish(queue);
      ++enqueued;
    }
  }).detach();
  while (enqueued < 5) std::this_thread::yield();
  leave();
}
TEST_F(Exit, GivenThreadThatEnqueuesThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("OtherThreadEnqueues"));
}

TEST_F(ExitChild, DISABLED_MappedBuffer) {
  cl_int err = CL_SUCCESS;
  auto* data = static_cast<int*>(clEnqueueMapBuffer(queue_handle, mem_handle, CL_TRUE, CL_MAP_WRITE, 0, 4096,
                                                    0, nullptr, nullptr, &err));
  check(err);
  std::fill(data, data + 1024, 7);
  leave();
}
TEST_F(Exit, GivenMappedBufferThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("MappedBuffer"));
}

TEST_F(ExitChild, DISABLED_StaticOwners) {
  // Programs with a global cl::Context and the like release them after main, in an order that depends on the
  // linker.
  static Context owner(context_handle);
  static Queue queue_owner(queue_handle);
  static Mem mem_owner(mem_handle);
  static Kernel kernel_owner(k_handle);
  check(clRetainContext(context_handle));
  check(launch(queue_owner, kernel_owner, 1));
  leave();
}
TEST_F(Exit, GivenStaticObjectsThatReleaseAtExitThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("StaticOwners"));
}

TEST_F(ExitChild, DISABLED_FinishInExitHandler) {
  static const cl_command_queue in_handler = queue_handle;
  check(launch(queue_handle, k_handle, 1));
  std::atexit([] { clFinish(in_handler); });
  leave();
}
TEST_F(Exit, GivenFinishInExitHandlerThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("FinishInExitHandler"));
}

TEST_F(ExitChild, DISABLED_QuickExit) {
  std::quick_exit(HasFailure() ? 3 : 0);
}
TEST_F(Exit, GivenQuickExitThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("QuickExit"));
}

TEST_F(ExitChild, DISABLED_ExitOnOtherThread) {
  std::thread([] { leave(); }).join();
}
TEST_F(Exit, GivenExitOnAnotherThreadThenExitsWithZero) {
  EXPECT_EQ("exit 0", end_of_process("ExitOnOtherThread"));
}

}  // namespace clique::test::suite_exit
