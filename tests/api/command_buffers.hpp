// The fixture of the tests of cl_khr_command_buffer: the functions of the extension, an owner for command
// buffers, and the clauses of all functions that record a command.
#pragma once

#include "helpers.hpp"
#include "icd/api/command_buffer_functions.hpp"
#include "images.hpp"

namespace clique::test {

/// The extension's functions, which loaders do not export.
struct CommandBufferFunctions {
  template <typename Function>
  static void load(Function& function, const char* name) {
    function = reinterpret_cast<Function>(clGetExtensionFunctionAddressForPlatform(platform(), name));
    EXPECT_NE(nullptr, function) << name;
  }
  CommandBufferFunctions() {
    load(create, "clCreateCommandBufferKHR");
    load(finalize, "clFinalizeCommandBufferKHR");
    load(retain, "clRetainCommandBufferKHR");
    load(release, "clReleaseCommandBufferKHR");
    load(enqueue, "clEnqueueCommandBufferKHR");
    load(barrier, "clCommandBarrierWithWaitListKHR");
    load(copy_buffer, "clCommandCopyBufferKHR");
    load(copy_buffer_rect, "clCommandCopyBufferRectKHR");
    load(copy_buffer_to_image, "clCommandCopyBufferToImageKHR");
    load(copy_image, "clCommandCopyImageKHR");
    load(copy_image_to_buffer, "clCommandCopyImageToBufferKHR");
    load(fill_buffer, "clCommandFillBufferKHR");
    load(fill_image, "clCommandFillImageKHR");
    load(nd_range, "clCommandNDRangeKernelKHR");
    load(get_info, "clGetCommandBufferInfoKHR");
  }
  decltype(&icd::api::clCreateCommandBufferKHR) create;
  decltype(&icd::api::clFinalizeCommandBufferKHR) finalize;
  decltype(&icd::api::clRetainCommandBufferKHR) retain;
  decltype(&icd::api::clReleaseCommandBufferKHR) release;
  decltype(&icd::api::clEnqueueCommandBufferKHR) enqueue;
  decltype(&icd::api::clCommandBarrierWithWaitListKHR) barrier;
  decltype(&icd::api::clCommandCopyBufferKHR) copy_buffer;
  decltype(&icd::api::clCommandCopyBufferRectKHR) copy_buffer_rect;
  decltype(&icd::api::clCommandCopyBufferToImageKHR) copy_buffer_to_image;
  decltype(&icd::api::clCommandCopyImageKHR) copy_image;
  decltype(&icd::api::clCommandCopyImageToBufferKHR) copy_image_to_buffer;
  decltype(&icd::api::clCommandFillBufferKHR) fill_buffer;
  decltype(&icd::api::clCommandFillImageKHR) fill_image;
  decltype(&icd::api::clCommandNDRangeKernelKHR) nd_range;
  decltype(&icd::api::clGetCommandBufferInfoKHR) get_info;
};

inline const CommandBufferFunctions& command_buffers() {
  static const CommandBufferFunctions functions;
  return functions;
}

/// Whether the device supports out-of-order queues.
inline bool keeps_no_order(cl_device_id device) {
  return (info<cl_command_queue_properties>(clGetDeviceInfo, device, CL_DEVICE_QUEUE_ON_HOST_PROPERTIES) &
          CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
}

inline cl_int release_command_buffer(cl_command_buffer_khr buffer) {
  return command_buffers().release(buffer);
}
using CommandBuffer = Owner<cl_command_buffer_khr, release_command_buffer>;

/// Base is ApiTest, or ImageTest for tests that need images.
template <typename Base>
class CommandBufferTestOf : public Base {
 protected:
  void SetUp() override {
    Base::SetUp();
    if (Base::HasFatalFailure() || Base::IsSkipped()) return;
    const auto extensions = info<std::string>(clGetPlatformInfo, platform(), CL_PLATFORM_EXTENSIONS);
    if (extensions.find("cl_khr_command_buffer") == std::string::npos)
      GTEST_SKIP() << "the platform lacks cl_khr_command_buffer";
  }
  const CommandBufferFunctions& call = command_buffers();

  CommandBuffer record_on(cl_command_queue on, cl_command_buffer_flags_khr flags = 0) {
    const cl_command_buffer_properties_khr properties[] = {CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0};
    cl_int err = CL_SUCCESS;
    CommandBuffer made(call.create(1, &on, properties, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    return made;
  }
  cl_command_buffer_state_khr state_of(cl_command_buffer_khr buffer) {
    return info<cl_command_buffer_state_khr>(call.get_info, buffer, CL_COMMAND_BUFFER_STATE_KHR);
  }
  /// Finalises the command buffer, enqueues it and waits until it completes.
  void run(cl_command_buffer_khr buffer) {
    ASSERT_CL(call.finalize(buffer));
    Event event;
    ASSERT_CL(call.enqueue(0, nullptr, buffer, 0, nullptr, event.out()));
    ASSERT_CL(clWaitForEvents(1, event.ptr()));
  }
  /// Records a one-dimensional kernel launch.
  cl_int record_launch(cl_command_buffer_khr buffer, cl_kernel kernel, size_t global,
                       const std::vector<cl_sync_point_khr>& waits = {},
                       cl_sync_point_khr* sync_point = nullptr) {
    return call.nd_range(buffer, nullptr, nullptr, kernel, 1, nullptr, &global, nullptr,
                         static_cast<cl_uint>(waits.size()), waits.empty() ? nullptr : waits.data(),
                         sync_point, nullptr);
  }

  /// The clauses of all functions that record a command. Calls record(buffer, queue, count, sync_points,
  /// sync_point, mutable_handle), which adds other, valid arguments.
  template <typename Record>
  void expect_recording_rules(Record&& record) {
    const CommandBuffer owner = record_on(this->queue);
    const cl_command_buffer_khr buffer = owner;
    cl_sync_point_khr first = 0;
    cl_sync_point_khr second = 0;
    EXPECT_CL(record(buffer, nullptr, 0, nullptr, &first, nullptr));
    EXPECT_CL(record(buffer, nullptr, 1, &first, &second, nullptr));
    EXPECT_NE(first, second);
    EXPECT_CL(record(buffer, nullptr, 0, nullptr, nullptr, nullptr));

    const cl_sync_point_khr unknown = second + 100;
    EXPECT_EQ(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, record(buffer, nullptr, 1, &unknown, nullptr, nullptr));
    EXPECT_EQ(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, record(buffer, nullptr, 1, nullptr, nullptr, nullptr));
    EXPECT_EQ(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, record(buffer, nullptr, 0, &first, nullptr, nullptr));
    EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, record(buffer, this->queue.get(), 0, nullptr, nullptr, nullptr));
    cl_mutable_command_khr handle = nullptr;
    EXPECT_EQ(CL_INVALID_VALUE, record(buffer, nullptr, 0, nullptr, nullptr, &handle));
    EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, record(nullptr, nullptr, 0, nullptr, nullptr, nullptr));

    EXPECT_CL(call.finalize(buffer));
    EXPECT_EQ(CL_INVALID_OPERATION, record(buffer, nullptr, 0, nullptr, nullptr, nullptr));
  }
};

using CommandBufferTest = CommandBufferTestOf<ApiTest>;
using CommandBufferImageTest = CommandBufferTestOf<ImageTest>;

}  // namespace clique::test
