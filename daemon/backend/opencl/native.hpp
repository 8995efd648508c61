// Owners for the driver's handles, and exceptions for its statuses.
#pragma once

#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <string>
#include <utility>
#include <vector>

#include "daemon/backend/common/checks.hpp"

namespace clique::daemon::opencl {

/// Throws ClError, which names the call and its status, unless the call succeeded.
inline void check(cl_int status, const char* call) {
  if (status != CL_SUCCESS) throw ClError(status, std::string(call) + " returned " + std::to_string(status));
}

template <typename T>
struct Counting;
template <>
struct Counting<cl_device_id> {
  static constexpr auto retain = clRetainDevice;
  static constexpr auto release = clReleaseDevice;
};
template <>
struct Counting<cl_context> {
  static constexpr auto retain = clRetainContext;
  static constexpr auto release = clReleaseContext;
};
template <>
struct Counting<cl_command_queue> {
  static constexpr auto retain = clRetainCommandQueue;
  static constexpr auto release = clReleaseCommandQueue;
};
template <>
struct Counting<cl_mem> {
  static constexpr auto retain = clRetainMemObject;
  static constexpr auto release = clReleaseMemObject;
};
template <>
struct Counting<cl_sampler> {
  static constexpr auto retain = clRetainSampler;
  static constexpr auto release = clReleaseSampler;
};
template <>
struct Counting<cl_program> {
  static constexpr auto retain = clRetainProgram;
  static constexpr auto release = clReleaseProgram;
};
template <>
struct Counting<cl_kernel> {
  static constexpr auto retain = clRetainKernel;
  static constexpr auto release = clReleaseKernel;
};
template <>
struct Counting<cl_event> {
  static constexpr auto retain = clRetainEvent;
  static constexpr auto release = clReleaseEvent;
};

/// Owns one reference to a native object.
template <typename T>
class Handle {
 public:
  Handle() = default;
  /// Takes over the caller's reference.
  explicit Handle(T native) : native_(native) {}
  Handle(const Handle& other) : native_(other.native_) {
    if (native_ != nullptr) Counting<T>::retain(native_);
  }
  Handle(Handle&& other) noexcept : native_(std::exchange(other.native_, nullptr)) {}
  Handle& operator=(Handle other) noexcept {
    std::swap(native_, other.native_);
    return *this;
  }
  ~Handle() {
    if (native_ != nullptr) Counting<T>::release(native_);
  }
  T get() const { return native_; }
  explicit operator bool() const { return native_ != nullptr; }
  /// For a call to store a new object, with a reference. Only while empty.
  T* put() { return &native_; }

 private:
  T native_ = nullptr;
};

/// Takes a reference to each event.
inline std::vector<Handle<cl_event>> retained(const std::vector<cl_event>& events) {
  std::vector<Handle<cl_event>> result;
  for (const cl_event event : events) {
    clRetainEvent(event);
    result.emplace_back(event);
  }
  return result;
}

/// Calls clGet*Info twice, for the size and the value.
/// @param query called as query(size, value, size_ret)
/// @returns false if the driver does not answer.
template <typename Query>
bool get_bytes(Query&& query, protocol::Bytes& value) {
  std::size_t size = 0;
  if (query(std::size_t{0}, nullptr, &size) != CL_SUCCESS) return false;
  value.resize(size);
  return size == 0 || query(size, static_cast<void*>(value.data()), nullptr) == CL_SUCCESS;
}

/// Calls clGet*Info for one value. @returns `fallback` if the driver does not answer.
template <typename T, typename Query>
T get_value(Query&& query, T fallback = {}) {
  T value = fallback;
  return query(sizeof value, static_cast<void*>(&value), nullptr) == CL_SUCCESS ? value : fallback;
}

/// Calls clGet*Info for a string. @returns an empty one if the driver does not answer.
template <typename Query>
std::string get_text(Query&& query) {
  protocol::Bytes bytes;
  if (!get_bytes(query, bytes)) return {};
  while (!bytes.empty() && bytes.back() == 0) bytes.pop_back();
  return {bytes.begin(), bytes.end()};
}

}  // namespace clique::daemon::opencl
