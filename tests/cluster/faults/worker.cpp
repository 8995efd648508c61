// Workers that die or stop answering while commands are pending.

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <numeric>
#include <thread>

#include "api/semaphores.hpp"
#include "nodes.hpp"

namespace clique::test {

class LostWorker : public TwoNodes {
 protected:
  void SetUp() override {
    TwoNodes::SetUp();
    if (HasFatalFailure()) return;
    for (const Queue& one : queues) expect_works(one, 2);
  }

  /// Expects the effects of a loss on commands that are under way on node 0. `lose` causes the loss.
  template <typename Lose>
  void expect_pending_fails(Lose&& lose) {
    Event gate = user_event();
    std::vector<cl_uint> data(1024);
    const Mem mem = buffer(data.size(), data.data());
    const Kernel fill = with_args("fill", {mem});
    const Queue parallel = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, devices()[0]);
    Event blocked;
    Event read;
    ASSERT_CL(enqueue(parallel, fill, data.size(), {gate}, blocked.out()));
    ASSERT_CL(clEnqueueReadBuffer(parallel, mem, CL_FALSE, 0, data.size() * sizeof(cl_uint), data.data(), 1,
                                  blocked.ptr(), read.out()));
    const Event running = start_endless(queues[0]);

    lose();
    const Stopwatch since;
    EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, WITHIN(limit, clWaitForEvents(1, running.ptr())));
    EXPECT_LT(status_of(running), 0);
    EXPECT_TRUE(
        eventually(limit - since.elapsed(), [&] { return status_of(blocked) < 0 && status_of(read) < 0; }))
        << status_of(blocked) << " " << status_of(read);
    EXPECT_NE(CL_SUCCESS, WITHIN(limit, clFinish(queues[0])));
    EXPECT_NE(CL_SUCCESS, WITHIN(limit, clFinish(parallel)));
    EXPECT_NE(CL_SUCCESS, WITHIN(limit, clEnqueueReadBuffer(queues[0], mem, CL_TRUE, 0, sizeof(cl_uint),
                                                            data.data(), 0, nullptr, nullptr)));
    EXPECT_LE(since.elapsed(), limit);
    EXPECT_FALSE(info<cl_bool>(clGetDeviceInfo, devices()[0], CL_DEVICE_AVAILABLE));
    EXPECT_TRUE(info<cl_bool>(clGetDeviceInfo, devices()[1], CL_DEVICE_AVAILABLE));

    // The other node continues in the same context, and can do what the lost one would have done.
    for (cl_uint factor = 1; factor < 20; ++factor) expect_works(queues[1], factor);
    EXPECT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
    EXPECT_CL(WITHIN(limit, clFinish(queues[1])));
  }

  std::chrono::milliseconds limit = kLossLimit;
};

TEST_F(LostWorker, KilledWithCommandsPending) {
  expect_pending_fails([&] { ASSERT_EQ(0, ::kill(nodes[0].worker(), SIGKILL)); });
}

TEST_F(LostWorker, StoppedWithCommandsPending) {
  expect_pending_fails([&] { ASSERT_EQ(0, ::kill(nodes[0].worker(), SIGSTOP)); });
}

/// Through connections alone, as from another host. A worker that is silent for 5 seconds has the time of the
/// node's resume-timeout, 1 second, to come back.
class LostRemoteWorker : public LostWorker {
 protected:
  LostRemoteWorker() {
    ::setenv("CLIQUE_SHARED_MEMORY", "0", 1);
    limit = kLossLimit + std::chrono::seconds(3);
  }
  ~LostRemoteWorker() override { ::unsetenv("CLIQUE_SHARED_MEMORY"); }
};

TEST_F(LostRemoteWorker, StoppedWithCommandsPending) {
  expect_pending_fails([&] { ASSERT_EQ(0, ::kill(nodes[0].worker(), SIGSTOP)); });
}

TEST_F(LostWorker, DaemonKilledWithCommandsPending) {
  const pid_t worker = nodes[0].worker();
  expect_pending_fails([&] { nodes[0].daemon().kill(); });
  EXPECT_TRUE(eventually(std::chrono::seconds(20), [&] { return !alive(worker); }))
      << "the worker outlives its daemon";
}

TEST_F(LostWorker, NewCommandsFailAtOnce) {
  const Mem mem = buffer<cl_uint>(1024);
  const Kernel fill = with_args("fill", {mem});
  ASSERT_CL(enqueue(queues[0], fill, 1024));
  ASSERT_CL(clFinish(queues[0]));
  ASSERT_EQ(0, ::kill(nodes[0].worker(), SIGKILL));
  ASSERT_TRUE(eventually(kLossLimit,
                         [&] { return !info<cl_bool>(clGetDeviceInfo, devices()[0], CL_DEVICE_AVAILABLE); }));

  Event event;
  const cl_int refused = WITHIN(kLossLimit, enqueue(queues[0], fill, 1024, {}, event.out()));
  if (refused == CL_SUCCESS) {
    EXPECT_NE(CL_SUCCESS, WITHIN(kLossLimit, clWaitForEvents(1, event.ptr())));
    EXPECT_LT(status_of(event), 0);
  }
}

TEST_F(LostWorker, IsReportedOnce) {
  const std::string said = stderr_of([&] {
    const Event running = start_endless(queues[0]);
    ASSERT_EQ(0, ::kill(nodes[0].worker(), SIGKILL));
    EXPECT_NE(CL_SUCCESS, WITHIN(kLossLimit, clWaitForEvents(1, running.ptr())));
    EXPECT_NE(CL_SUCCESS, WITHIN(kLossLimit, clFinish(queues[0])));
    expect_works(queues[1], 2);
  });
  EXPECT_EQ(0U, said.find("clique: node alpha: the connection was closed")) << said;
  EXPECT_NE(std::string::npos, said.find("start the program again\n")) << said;
  EXPECT_EQ(1, std::count(said.begin(), said.end(), '\n')) << said;
}

TEST_F(LostWorker, DependantsOnTheOtherNodeFail) {
  const Mem mem = buffer<cl_uint>(1024);
  const Kernel fill = with_args("fill", {mem});
  const Event running = start_endless(queues[0]);
  Event dependant;
  ASSERT_CL(enqueue(queues[1], fill, 1024, {running}, dependant.out()));
  ASSERT_CL(clFlush(queues[1]));
  ASSERT_EQ(0, ::kill(nodes[0].worker(), SIGKILL));
  EXPECT_NE(CL_SUCCESS, WITHIN(kLossLimit, clWaitForEvents(1, dependant.ptr())));
  EXPECT_LT(status_of(dependant), 0);
  expect_works(queues[1], 5);
}

TEST_F(LostWorker, DataThatDoesNotArriveFailsCommandsWithoutEvents) {
  const Mem awaited = buffer<cl_uint>(1024);
  const Mem result = buffer<cl_uint>(1024);
  const Kernel fill = with_args("fill", {awaited});
  const Kernel copy = with_args("copy", {awaited, result});
  const Event running = start_endless(queues[0]);
  ASSERT_CL(enqueue(queues[0], fill, 1024));
  ASSERT_CL(enqueue(queues[1], copy, 1024));
  Event copied;
  ASSERT_CL(enqueue(queues[1], copy, 1024, {}, copied.out()));
  ASSERT_CL(clFlush(queues[1]));
  ASSERT_EQ(0, ::kill(nodes[0].worker(), SIGKILL));
  EXPECT_NE(CL_SUCCESS, WITHIN(kLossLimit, clFinish(queues[1])));
  EXPECT_LT(status_of(copied), 0);
  EXPECT_NE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, status_of(copied)) << "it has no wait list";
  EXPECT_CL(WITHIN(kLossLimit, clFinish(queues[1])));
  expect_works(queues[1], 6);
}

TEST_F(LostWorker, DataThatWasOnlyThereIsAnError) {
  const Mem lost = buffer<cl_uint>(1024);
  const Mem result = buffer<cl_uint>(1024);
  const Kernel fill = with_args("fill", {lost});
  const Kernel copy = with_args("copy", {lost, result});
  ASSERT_CL(enqueue(queues[0], fill, 1024));
  ASSERT_CL(clFinish(queues[0]));
  ASSERT_EQ(0, ::kill(nodes[0].worker(), SIGKILL));

  std::vector<cl_uint> data(1024, 99);
  EXPECT_NE(CL_SUCCESS,
            WITHIN(kLossLimit, clEnqueueReadBuffer(queues[1], lost, CL_TRUE, 0, 1024 * sizeof(cl_uint),
                                                   data.data(), 0, nullptr, nullptr)));
  Event copied;
  if (WITHIN(kLossLimit, enqueue(queues[1], copy, 1024, {}, copied.out())) == CL_SUCCESS) {
    EXPECT_NE(CL_SUCCESS, WITHIN(kLossLimit, clWaitForEvents(1, copied.ptr())));
    EXPECT_LT(status_of(copied), 0);
  }

  // Content that is written again is valid again.
  std::iota(data.begin(), data.end(), 1000U);
  const Queue after = make_queue(0, devices()[1]);
  ASSERT_CL(clEnqueueWriteBuffer(after, lost, CL_TRUE, 0, 1024 * sizeof(cl_uint), data.data(), 0, nullptr,
                                 nullptr));
  ASSERT_CL(WITHIN(kLossLimit, enqueue(after, copy, 1024)));
  std::vector<cl_uint> back(1024);
  ASSERT_CL(WITHIN(kLossLimit, clEnqueueReadBuffer(after, result, CL_TRUE, 0, 1024 * sizeof(cl_uint),
                                                   back.data(), 0, nullptr, nullptr)));
  EXPECT_EQ(data, back);
}

TEST_F(LostWorker, WaitsForItsSemaphoresFailAndSignalsAreNotTaken) {
  const SemaphoreFunctions& call = semaphore_functions();
  const auto make = [&](cl_device_id on) {
    const cl_semaphore_properties_khr list[] = {
        CL_SEMAPHORE_TYPE_KHR,
        CL_SEMAPHORE_TYPE_BINARY_KHR,
        icd::api::kSemaphoreDevices,
        static_cast<cl_semaphore_properties_khr>(reinterpret_cast<std::uintptr_t>(on)),
        0,
        0};
    return Semaphore(call.create(context, list, nullptr));
  };
  const auto payload = [&](cl_semaphore_khr semaphore) {
    return info<cl_semaphore_payload_khr>(call.get_info, semaphore, CL_SEMAPHORE_PAYLOAD_KHR);
  };
  const Queue parallel = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, devices()[0]);
  const Semaphore signaled = make(devices()[0]);
  const Semaphore pending = make(devices()[0]);
  const Semaphore unsignaled = make(devices()[0]);
  const Event gate = user_event();
  Event signal;
  Event after_pending;
  Event after_unsignaled;
  ASSERT_CL(call.signal(queues[0], 1, signaled.ptr(), nullptr, 0, nullptr, signal.out()));
  ASSERT_CL(clWaitForEvents(1, signal.ptr()));
  ASSERT_CL(call.signal(parallel, 1, pending.ptr(), nullptr, 1, gate.ptr(), nullptr));
  ASSERT_CL(call.wait(parallel, 1, pending.ptr(), nullptr, 0, nullptr, after_pending.out()));
  ASSERT_CL(call.wait(parallel, 1, unsignaled.ptr(), nullptr, 0, nullptr, after_unsignaled.out()));
  ASSERT_CL(clFlush(parallel));
  ASSERT_EQ(0, ::kill(nodes[0].worker(), SIGKILL));
  EXPECT_NE(CL_SUCCESS, WITHIN(kLossLimit, clWaitForEvents(1, after_pending.ptr())));
  EXPECT_NE(CL_SUCCESS, WITHIN(kLossLimit, clWaitForEvents(1, after_unsignaled.ptr())));

  EXPECT_EQ(1U, payload(signaled));
  EXPECT_EQ(CL_OUT_OF_RESOURCES, call.wait(queues[0], 1, signaled.ptr(), nullptr, 0, nullptr, nullptr));
  EXPECT_EQ(1U, payload(signaled));
  EXPECT_EQ(CL_OUT_OF_RESOURCES, call.wait(queues[0], 1, pending.ptr(), nullptr, 0, nullptr, nullptr));
  EXPECT_EQ(CL_OUT_OF_RESOURCES, call.signal(queues[0], 1, pending.ptr(), nullptr, 0, nullptr, nullptr));
  EXPECT_EQ(0U, payload(pending));

  const Semaphore other = make(devices()[1]);
  Event waited;
  ASSERT_CL(call.signal(queues[1], 1, other.ptr(), nullptr, 0, nullptr, nullptr));
  ASSERT_CL(call.wait(queues[1], 1, other.ptr(), nullptr, 0, nullptr, waited.out()));
  EXPECT_CL(WITHIN(kLossLimit, clWaitForEvents(1, waited.ptr())));
  EXPECT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
}

TEST_F(LostWorker, DataThatWasOnBothIsStillThere) {
  std::vector<cl_uint> data(1024);
  std::iota(data.begin(), data.end(), 1U);
  const Mem shared = buffer<cl_uint>(1024);
  const Mem result = buffer<cl_uint>(1024);
  const Kernel copy = with_args("copy", {shared, result});
  ASSERT_CL(clEnqueueWriteBuffer(queues[0], shared, CL_TRUE, 0, 1024 * sizeof(cl_uint), data.data(), 0,
                                 nullptr, nullptr));
  cl_mem moved = shared;
  ASSERT_CL(clEnqueueMigrateMemObjects(queues[1], 1, &moved, 0, 0, nullptr, nullptr));
  ASSERT_CL(clFinish(queues[1]));
  ASSERT_EQ(0, ::kill(nodes[0].worker(), SIGKILL));
  ASSERT_TRUE(eventually(kLossLimit,
                         [&] { return !info<cl_bool>(clGetDeviceInfo, devices()[0], CL_DEVICE_AVAILABLE); }));

  ASSERT_CL(WITHIN(kLossLimit, enqueue(queues[1], copy, 1024)));
  std::vector<cl_uint> back(1024);
  ASSERT_CL(WITHIN(kLossLimit, clEnqueueReadBuffer(queues[1], result, CL_TRUE, 0, 1024 * sizeof(cl_uint),
                                                   back.data(), 0, nullptr, nullptr)));
  EXPECT_EQ(data, back);
}

TEST_F(LostWorker, ObjectsCanBeReleased) {
  const Event running = start_endless(queues[0]);
  ASSERT_EQ(0, ::kill(nodes[0].worker(), SIGKILL));
  WITHIN(kLossLimit, [&] {
    queues.clear();
    program.reset();
    queue.reset();
    return true;
  }());
}

/// Opens a session with node 0, whose worker is killed after the daemon has assigned it to the session and
/// before a client can attach.
class NewSession : public TwoNodes {
 protected:
  void SetUp() override {
    before_opening = [this] {
      const pid_t worker = idle_worker();
      ASSERT_GT(worker, 0);
      ASSERT_EQ(0, ::kill(worker, SIGSTOP));
      killer = std::thread([this, worker] {
        EXPECT_TRUE(eventually(std::chrono::seconds(20), [this] {
          return nodes[0].log().find("session 1 began") != std::string::npos;
        }));
        ::kill(worker, SIGKILL);
      });
    };
    said = stderr_of([this] { TwoNodes::SetUp(); });
    if (HasFatalFailure()) std::cerr << said << nodes[0].log();
    killer.join();
  }

  /// The idle worker of node 0.
  pid_t idle_worker() {
    const pid_t daemon = nodes[0].daemon().pid();
    pid_t worker = -1;
    eventually(std::chrono::seconds(60), [&] {
      const std::string task = "/proc/" + std::to_string(daemon) + "/task/" + std::to_string(daemon);
      return std::ifstream(task + "/children") >> worker && listening_ports(worker).size() == 3;
    });
    return worker;
  }

  std::thread killer;
  std::string said;
};

TEST_F(NewSession, GetsOtherWorkersWhereItsOwnAreKilled) {
  EXPECT_EQ(said, "");
  for (const Queue& one : queues) expect_works(one, 2);
}

}  // namespace clique::test
