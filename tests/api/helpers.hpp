// What tests do in many places beyond what the fixture offers.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "fixture.hpp"

namespace clique::test {

/// A user event that completes at the end of its scope at the latest, so that a failing test does not leave a
/// queue blocked. Declare it after the queues that wait for it and the data that they use.
class Gate {
 public:
  explicit Gate(cl_context context) {
    cl_int err = CL_SUCCESS;
    event_ = Event(clCreateUserEvent(context, &err));
    EXPECT_EQ(CL_SUCCESS, err);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() {
    if (closed_) open();
  }
  void open() { set(CL_COMPLETE); }
  void fail(cl_int status = -1000) { set(status); }
  operator cl_event() const { return event_.get(); }  // NOLINT(google-explicit-constructor)
  const cl_event* ptr() const { return event_.ptr(); }

 private:
  void set(cl_int status) {
    closed_ = false;
    EXPECT_CL(::clSetUserEventStatus(event_, status));
  }
  Event event_;
  bool closed_ = true;
};

/// A second context over the same devices.
inline Context another_context() {
  cl_int err = CL_SUCCESS;
  Context result(clCreateContext(nullptr, static_cast<cl_uint>(devices().size()), devices().data(), nullptr,
                                 nullptr, &err));
  EXPECT_EQ(CL_SUCCESS, err);
  return result;
}

/// Objects of a second context, for the clauses about mixing contexts.
struct OtherContext {
  OtherContext() {
    cl_int err = CL_SUCCESS;
    queue = Queue(clCreateCommandQueueWithProperties(context, devices().front(), nullptr, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    buffer = Mem(clCreateBuffer(context, CL_MEM_READ_WRITE, 1024, nullptr, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    event = Event(clCreateUserEvent(context, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    EXPECT_CL(::clSetUserEventStatus(event, CL_COMPLETE));
  }
  Context context = another_context();
  Queue queue;
  Mem buffer;
  Event event;
};

template <typename Handle, auto release>
Handle argument_value(const Owner<Handle, release>& owner) {
  return owner.get();
}
template <typename T>
T argument_value(const T& value) {
  return value;
}

/// Sets the kernel's first arguments to `args`, each by its value.
template <typename... Args>
void set_args(cl_kernel kernel, const Args&... args) {
  cl_uint index = 0;
  const auto set = [&](const auto value) {
    EXPECT_CL(::clSetKernelArg(kernel, index, sizeof value, &value)) << "argument " << index;
    ++index;
  };
  (set(argument_value(args)), ...);
}

/// Enqueues `global` work-items in one dimension.
inline cl_int launch(cl_command_queue queue, cl_kernel kernel, size_t global,
                     const std::vector<cl_event>& waits = {}, cl_event* event = nullptr) {
  return ::clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr,
                                  static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(),
                                  event);
}

inline cl_int status_of(cl_event event) {
  return info<cl_int>(::clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS);
}

/// A marker that waits for `gate`: a command without any work of its own.
inline Event enqueue_blocked_marker(cl_command_queue on, cl_event gate) {
  Event event;
  EXPECT_CL(::clEnqueueMarkerWithWaitList(on, 1, &gate, event.out()));
  return event;
}

/// Waits up to ten seconds for `condition`, and returns whether it holds. For what a driver may do
/// asynchronously, such as callbacks.
template <typename Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// Records the calls of a callback. Any thread may add to it and wait for it.
template <typename Call>
class Calls {
 public:
  void add(Call call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    changed_.notify_all();
  }
  /// The calls so far, as soon as there are `count` of them, or after ten seconds.
  std::vector<Call> wait_for(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(10), [&] { return calls_.size() >= count; });
    return calls_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Call> calls_;
};

/// Records the calls of destructor callbacks. Pass `note` as the callback, and the address of a Callback as
/// its user data.
template <typename Handle>
class DestructorCalls {
 public:
  using Call = std::pair<Handle, int>;  ///< the object, and the number of the callback
  struct Callback {
    DestructorCalls* calls;
    int number;
  };
  static void CL_CALLBACK note(Handle object, void* user_data) {
    const auto* callback = static_cast<const Callback*>(user_data);
    callback->calls->calls_.add({object, callback->number});
  }
  size_t count() { return calls_.wait_for(0).size(); }
  std::vector<Call> wait_for(size_t count) { return calls_.wait_for(count); }

 private:
  Calls<Call> calls_;
};

}  // namespace clique::test
