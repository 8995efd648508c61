// The fixture of the API tests: the platform under test, its devices, and owners for OpenCL handles.
//
// Tests go through the real ICD loader. CLIQUE_TEST_PLATFORM (default "Clique") picks the platform whose
// CL_PLATFORM_NAME contains it, so that the same tests can be run on a native driver for comparison.
#pragma once

#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#define ASSERT_CL(call) ASSERT_EQ(CL_SUCCESS, (call))
#define EXPECT_CL(call) EXPECT_EQ(CL_SUCCESS, (call))

namespace clique::test {

/// Owns one reference to an OpenCL object and releases it at the end of the scope.
template <typename Handle, cl_int(CL_API_CALL* release)(Handle)>
class Owner {
 public:
  Owner() = default;
  explicit Owner(Handle handle) : handle_(handle) {}
  Owner(Owner&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owner& operator=(Owner&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() { reset(); }

  operator Handle() const { return handle_; }  // NOLINT(google-explicit-constructor): stands for the handle
  Handle get() const { return handle_; }
  const Handle* ptr() const { return &handle_; }
  /// For calls that return the object through a pointer. Releases the current object.
  Handle* out() {
    reset();
    return &handle_;
  }
  void reset() {
    if (handle_ != nullptr) release(std::exchange(handle_, nullptr));
  }
  /// Gives up the reference without releasing it.
  Handle release_ownership() { return std::exchange(handle_, nullptr); }

 private:
  Handle handle_ = nullptr;
};

using Context = Owner<cl_context, clReleaseContext>;
using Queue = Owner<cl_command_queue, clReleaseCommandQueue>;
using Mem = Owner<cl_mem, clReleaseMemObject>;
using Sampler = Owner<cl_sampler, clReleaseSampler>;
using Program = Owner<cl_program, clReleaseProgram>;
using Kernel = Owner<cl_kernel, clReleaseKernel>;
using Event = Owner<cl_event, clReleaseEvent>;

/// The platform under test. If it is missing, fails the current test and returns nullptr.
cl_platform_id platform();
/// Sets a pointer to the extension's function of that name, which has to exist. Loaders do not export them.
template <typename Function>
void load_extension(Function& function, const char* name) {
  function = reinterpret_cast<Function>(::clGetExtensionFunctionAddressForPlatform(platform(), name));
  EXPECT_NE(nullptr, function) << name;
}
/// All devices of the platform under test, in its order.
const std::vector<cl_device_id>& devices();

/// A clGet*Info value of a fixed-size type, or of type std::string or std::vector<T>.
/// Use: info<cl_uint>(clGetDeviceInfo, device, CL_DEVICE_MAX_COMPUTE_UNITS).
template <typename T, typename Getter, typename Object, typename Name>
T info(Getter getter, Object object, Name name) {
  if constexpr (std::is_same_v<T, std::string>) {
    size_t size = 0;
    EXPECT_CL(getter(object, name, 0, nullptr, &size));
    std::string value(size, '\0');
    if (size > 0) {
      EXPECT_CL(getter(object, name, size, value.data(), nullptr));
      value.resize(size - 1);
    }
    return value;
  } else if constexpr (!std::is_scalar_v<T>) {
    size_t size = 0;
    EXPECT_CL(getter(object, name, 0, nullptr, &size));
    T value(size / sizeof(typename T::value_type));
    if (size > 0) {
      EXPECT_CL(getter(object, name, size, value.data(), nullptr));
    }
    return value;
  } else {
    T value{};
    size_t size = 0;
    EXPECT_CL(getter(object, name, sizeof value, &value, &size));
    EXPECT_EQ(sizeof value, size);
    return value;
  }
}

/// A context over every device of the platform, and an in-order profiling queue on the first one.
class ApiTest : public ::testing::Test {
 protected:
  void SetUp() override;

  /// Builds `source` for all devices. On failure prints the build log.
  Program build(const char* source, const char* options = "");
  Kernel kernel(cl_program program, const char* name);
  /// A buffer of `count` elements, initialised from `data` if that is not null.
  template <typename T>
  Mem buffer(size_t count, const T* data = nullptr, cl_mem_flags flags = CL_MEM_READ_WRITE) {
    cl_int err = CL_SUCCESS;
    Mem mem(clCreateBuffer(context, flags | (data ? CL_MEM_COPY_HOST_PTR : 0), count * sizeof(T),
                           const_cast<T*>(data), &err));
    EXPECT_EQ(CL_SUCCESS, err);
    return mem;
  }
  /// The first `count` elements of `mem`, read with a blocking read on `queue`.
  template <typename T>
  std::vector<T> read(cl_mem mem, size_t count) {
    std::vector<T> data(count);
    EXPECT_CL(
        clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, count * sizeof(T), data.data(), 0, nullptr, nullptr));
    return data;
  }
  Queue make_queue(cl_command_queue_properties properties = 0, cl_device_id on = nullptr);
  Event user_event();

  cl_device_id device = nullptr;
  Context context;
  Queue queue;
};

/// A pointer to readable memory that is not an OpenCL object of any driver, like a stale or foreign handle.
/// Not for the first argument of a call, which the loader itself dereferences.
template <typename Handle>
Handle foreign_handle() {
  static void* words[64] = {};
  return reinterpret_cast<Handle>(&words[0]);
}

}  // namespace clique::test
