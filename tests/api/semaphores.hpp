// The fixture of the tests of cl_khr_semaphore: the functions of the extension, an owner for semaphores, and
// the clauses that signaling them and waiting for them have in common.
#pragma once

#include "checks.hpp"
#include "icd/api/semaphore_functions.hpp"

namespace clique::test {

/// The extension's functions, which loaders do not export.
struct SemaphoreFunctions {
  SemaphoreFunctions() {
    load_extension(create, "clCreateSemaphoreWithPropertiesKHR");
    load_extension(wait, "clEnqueueWaitSemaphoresKHR");
    load_extension(signal, "clEnqueueSignalSemaphoresKHR");
    load_extension(get_info, "clGetSemaphoreInfoKHR");
    load_extension(retain, "clRetainSemaphoreKHR");
    load_extension(release, "clReleaseSemaphoreKHR");
    load_extension(get_handle, "clGetSemaphoreHandleForTypeKHR");
  }
  decltype(&icd::api::clCreateSemaphoreWithPropertiesKHR) create;
  decltype(&icd::api::clEnqueueWaitSemaphoresKHR) wait;
  decltype(&icd::api::clEnqueueSignalSemaphoresKHR) signal;
  decltype(&icd::api::clGetSemaphoreInfoKHR) get_info;
  decltype(&icd::api::clRetainSemaphoreKHR) retain;
  decltype(&icd::api::clReleaseSemaphoreKHR) release;
  decltype(&icd::api::clGetSemaphoreHandleForTypeKHR) get_handle;
};

inline const SemaphoreFunctions& semaphore_functions() {
  static const SemaphoreFunctions functions;
  return functions;
}

inline cl_int release_semaphore(cl_semaphore_khr semaphore) {
  return semaphore_functions().release(semaphore);
}
using Semaphore = Owner<cl_semaphore_khr, release_semaphore>;

/// A context of two devices: of the platform, or else parts of its only device. Empty if there are none.
class TwoDevices {
 public:
  TwoDevices() : all_(devices()) {
    if (all_.size() < 2) {
      const cl_device_partition_property properties[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
      cl_uint count = 0;
      if (clCreateSubDevices(devices().front(), properties, 0, nullptr, &count) != CL_SUCCESS || count < 2)
        return;
      all_.resize(count);
      EXPECT_CL(clCreateSubDevices(devices().front(), properties, count, all_.data(), nullptr));
      parts_ = all_;
    }
    cl_int err = CL_SUCCESS;
    context = Context(clCreateContext(nullptr, 2, all_.data(), nullptr, nullptr, &err));
    EXPECT_EQ(CL_SUCCESS, err);
  }
  TwoDevices(const TwoDevices&) = delete;
  TwoDevices& operator=(const TwoDevices&) = delete;
  ~TwoDevices() {
    for (const cl_device_id part : parts_) EXPECT_CL(::clReleaseDevice(part));
  }
  /// @param index 0 or 1
  cl_device_id device(std::size_t index) const { return all_[index]; }
  Context context;

 private:
  std::vector<cl_device_id> all_;
  std::vector<cl_device_id> parts_;
};

class SemaphoreTest : public ApiTest {
 protected:
  using Properties = std::vector<cl_semaphore_properties_khr>;
  using Enqueue = decltype(&icd::api::clEnqueueWaitSemaphoresKHR);

  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) return;
    const auto extensions = info<std::string>(clGetPlatformInfo, platform(), CL_PLATFORM_EXTENSIONS);
    if (extensions.find("cl_khr_semaphore") == std::string::npos)
      GTEST_SKIP() << "the platform lacks cl_khr_semaphore";
  }

  static cl_semaphore_properties_khr property_of(cl_device_id handle) {
    return static_cast<cl_semaphore_properties_khr>(reinterpret_cast<std::uintptr_t>(handle));
  }
  /// The properties of a semaphore of this device.
  static Properties for_device(cl_device_id on) {
    return {CL_SEMAPHORE_TYPE_KHR,
            CL_SEMAPHORE_TYPE_BINARY_KHR,
            icd::api::kSemaphoreDevices,
            property_of(on),
            0,
            0};
  }
  Semaphore make_semaphore() { return make_semaphore(context, device); }
  Semaphore make_semaphore(cl_context in, cl_device_id on) {
    cl_int err = CL_SUCCESS;
    Semaphore made(call.create(in, for_device(on).data(), &err));
    EXPECT_EQ(CL_SUCCESS, err);
    return made;
  }
  cl_int signal(cl_command_queue on, cl_semaphore_khr semaphore, const std::vector<cl_event>& waits = {},
                cl_event* event = nullptr) {
    return call.signal(on, 1, &semaphore, nullptr, static_cast<cl_uint>(waits.size()),
                       waits.empty() ? nullptr : waits.data(), event);
  }
  cl_int wait(cl_command_queue on, cl_semaphore_khr semaphore, const std::vector<cl_event>& waits = {},
              cl_event* event = nullptr) {
    return call.wait(on, 1, &semaphore, nullptr, static_cast<cl_uint>(waits.size()),
                     waits.empty() ? nullptr : waits.data(), event);
  }
  cl_semaphore_payload_khr payload(cl_semaphore_khr semaphore) {
    return info<cl_semaphore_payload_khr>(call.get_info, semaphore, CL_SEMAPHORE_PAYLOAD_KHR);
  }
  static cl_int finished(const Event& event) { return clWaitForEvents(1, event.ptr()); }

  /// The clauses about the arguments of both functions that enqueue a command.
  void expect_semaphore_rules(Enqueue enqueue) {
    const Semaphore semaphore = make_semaphore();
    const auto with = [&](cl_command_queue on, std::vector<cl_semaphore_khr> list) {
      return enqueue(on, static_cast<cl_uint>(list.size()), list.data(), nullptr, 0, nullptr, nullptr);
    };
    EXPECT_EQ(CL_INVALID_VALUE, enqueue(queue, 0, semaphore.ptr(), nullptr, 0, nullptr, nullptr));
    EXPECT_EQ(CL_INVALID_VALUE, enqueue(queue, 1, nullptr, nullptr, 0, nullptr, nullptr));
    EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, with(foreign_handle<cl_command_queue>(), {semaphore}));

    Semaphore gone = make_semaphore();
    const cl_semaphore_khr stale = gone;
    gone.reset();
    for (const cl_semaphore_khr bad : {cl_semaphore_khr{}, foreign_handle<cl_semaphore_khr>(), stale,
                                       reinterpret_cast<cl_semaphore_khr>(queue.get())}) {
      EXPECT_EQ(CL_INVALID_SEMAPHORE_KHR, with(queue, {bad})) << bad;
      EXPECT_EQ(CL_INVALID_SEMAPHORE_KHR, with(queue, {semaphore, bad})) << bad;
    }
    const OtherContext other;
    EXPECT_EQ(CL_INVALID_CONTEXT, with(other.queue, {semaphore}));
    const Semaphore others = make_semaphore(other.context, device);
    EXPECT_EQ(CL_INVALID_CONTEXT, with(queue, {semaphore, others}));

    Gate failed(context);
    failed.fail();
    EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
              enqueue(queue, 1, semaphore.ptr(), nullptr, 1, failed.ptr(), nullptr));
    EXPECT_EQ(0U, payload(semaphore));
  }
  /// A queue of another device than the semaphore's is not valid.
  void expect_device_rules(Enqueue enqueue) {
    const TwoDevices two;
    if (!two.context) GTEST_SKIP() << "there is one device only, which cannot be partitioned";
    cl_int err = CL_SUCCESS;
    const Queue second(clCreateCommandQueueWithProperties(two.context, two.device(1), nullptr, &err));
    ASSERT_EQ(CL_SUCCESS, err);
    const Semaphore of_first = make_semaphore(two.context, two.device(0));
    EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, enqueue(second, 1, of_first.ptr(), nullptr, 0, nullptr, nullptr));
    const cl_device_id first = two.device(0);
    const Context without(clCreateContext(nullptr, 1, &first, nullptr, nullptr, &err));
    ASSERT_EQ(CL_SUCCESS, err);
    const Semaphore elsewhere = make_semaphore(without, first);
    EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, enqueue(second, 1, elsewhere.ptr(), nullptr, 0, nullptr, nullptr));
  }

  const SemaphoreFunctions& call = semaphore_functions();
};

}  // namespace clique::test
