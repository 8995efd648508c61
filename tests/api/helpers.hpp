// What the tests of programs, kernels and events share beyond the fixture.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "fixture.hpp"

namespace clique::test {

/// A user event that opens at the end of its scope at the latest, so that no failing test leaves a queue
/// blocked for ever. Declare it after the queues and data that wait for it.
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

/// Objects of a second context over the same devices, for the clauses about mixing contexts.
struct OtherContext {
  OtherContext() {
    cl_int err = CL_SUCCESS;
    context = Context(clCreateContext(nullptr, static_cast<cl_uint>(devices().size()), devices().data(),
                                      nullptr, nullptr, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    queue = Queue(clCreateCommandQueueWithProperties(context, devices().front(), nullptr, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    buffer = Mem(clCreateBuffer(context, CL_MEM_READ_WRITE, 1024, nullptr, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    event = Event(clCreateUserEvent(context, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    EXPECT_CL(::clSetUserEventStatus(event, CL_COMPLETE));
  }
  Context context;
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

/// The clauses that every clGet*Info has: a larger buffer is written up to the returned size only, a smaller
/// one and an unknown name are CL_INVALID_VALUE.
template <typename Getter, typename Object, typename Name>
void expect_info_clauses(Getter getter, Object object, Name name) {
  SCOPED_TRACE(name);
  size_t size = 0;
  ASSERT_CL(getter(object, name, 0, nullptr, &size));
  ASSERT_GT(size, 0U);
  std::vector<unsigned char> value(size + 16, 0x5A);
  size_t returned = 0;
  EXPECT_CL(getter(object, name, value.size(), value.data(), &returned));
  EXPECT_EQ(size, returned);
  EXPECT_EQ(16, std::count(value.end() - 16, value.end(), 0x5A));
  EXPECT_EQ(CL_INVALID_VALUE, getter(object, name, size - 1, value.data(), nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, getter(object, Name{0x7FFF}, value.size(), value.data(), nullptr));
}

/// Remembers the calls of a callback; the test waits for them, for a bounded time.
template <typename Call>
class Calls {
 public:
  void add(Call call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    changed_.notify_all();
  }
  /// The calls so far, once there are `count` of them or ten seconds are over.
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

}  // namespace clique::test
