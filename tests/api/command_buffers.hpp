// The fixture of the tests of cl_khr_command_buffer: the functions of the extension, an owner for command
// buffers, and the clauses of all functions that record a command.
#pragma once

#include "helpers.hpp"
#include "icd/api/command_buffer_functions.hpp"
#include "images.hpp"

namespace clique::test {

/// The forms that calls of the functions that record have, depending on the headers of the program: newer
/// ones have a list of properties.
enum class Form { Newer, Older };

/// The form of the calls of Recorder.
inline Form& form() {
  static Form now = Form::Newer;
  return now;
}

/// Calls one of the functions that record, without properties, in the form that form() says.
template <typename Forms>
class Recorder {
 public:
  typename Forms::Newer* newer = nullptr;
  typename Forms::Older* older = nullptr;

  template <typename... Arguments>
  cl_int operator()(cl_command_buffer_khr buffer, cl_command_queue queue, Arguments&&... arguments) const {
    if (form() == Form::Newer) return newer(buffer, queue, nullptr, arguments...);
    return older(buffer, queue, arguments...);
  }
};

template <typename Forms>
void load_extension(Recorder<Forms>& recorder, const char* name) {
  load_extension(recorder.newer, name);
  load_extension(recorder.older, name);
}

/// The extension's functions, which loaders do not export.
struct CommandBufferFunctions {
  CommandBufferFunctions() {
    load_extension(create, "clCreateCommandBufferKHR");
    load_extension(finalize, "clFinalizeCommandBufferKHR");
    load_extension(retain, "clRetainCommandBufferKHR");
    load_extension(release, "clReleaseCommandBufferKHR");
    load_extension(enqueue, "clEnqueueCommandBufferKHR");
    load_extension(barrier, "clCommandBarrierWithWaitListKHR");
    load_extension(copy_buffer, "clCommandCopyBufferKHR");
    load_extension(copy_buffer_rect, "clCommandCopyBufferRectKHR");
    load_extension(copy_buffer_to_image, "clCommandCopyBufferToImageKHR");
    load_extension(copy_image, "clCommandCopyImageKHR");
    load_extension(copy_image_to_buffer, "clCommandCopyImageToBufferKHR");
    load_extension(fill_buffer, "clCommandFillBufferKHR");
    load_extension(fill_image, "clCommandFillImageKHR");
    load_extension(svm_memcpy, "clCommandSVMMemcpyKHR");
    load_extension(svm_mem_fill, "clCommandSVMMemFillKHR");
    load_extension(nd_range, "clCommandNDRangeKernelKHR");
    load_extension(get_info, "clGetCommandBufferInfoKHR");
    load_extension(remap, "clRemapCommandBufferKHR");
    load_extension(update, "clUpdateMutableCommandsKHR");
    load_extension(update_in_older_form, "clUpdateMutableCommandsKHR");
    load_extension(get_command_info, "clGetMutableCommandInfoKHR");
  }
  decltype(&icd::api::clCreateCommandBufferKHR) create;
  decltype(&icd::api::clFinalizeCommandBufferKHR) finalize;
  decltype(&icd::api::clRetainCommandBufferKHR) retain;
  decltype(&icd::api::clReleaseCommandBufferKHR) release;
  decltype(&icd::api::clEnqueueCommandBufferKHR) enqueue;
  Recorder<icd::api::BarrierForms> barrier;
  Recorder<icd::api::CopyBufferForms> copy_buffer;
  Recorder<icd::api::CopyBufferRectForms> copy_buffer_rect;
  Recorder<icd::api::CopyBufferToImageForms> copy_buffer_to_image;
  Recorder<icd::api::CopyImageForms> copy_image;
  Recorder<icd::api::CopyImageToBufferForms> copy_image_to_buffer;
  Recorder<icd::api::FillBufferForms> fill_buffer;
  Recorder<icd::api::FillImageForms> fill_image;
  Recorder<icd::api::SvmMemcpyForms> svm_memcpy;
  Recorder<icd::api::SvmMemFillForms> svm_mem_fill;
  decltype(&icd::api::clCommandNDRangeKernelKHR) nd_range;
  decltype(&icd::api::clGetCommandBufferInfoKHR) get_info;
  decltype(&icd::api::clRemapCommandBufferKHR) remap;
  icd::api::UpdateFunction* update;
  icd::api::OlderUpdateFunction* update_in_older_form;
  decltype(&icd::api::clGetMutableCommandInfoKHR) get_command_info;
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
    form() = Form::Newer;
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
  /// A command buffer of several queues.
  CommandBuffer record_on_all(const std::vector<cl_command_queue>& queues,
                              cl_command_buffer_flags_khr flags = 0) {
    const cl_command_buffer_properties_khr properties[] = {CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0};
    cl_int err = CL_SUCCESS;
    CommandBuffer made(call.create(static_cast<cl_uint>(queues.size()), queues.data(), properties, &err));
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

  /// Checks something with calls of both forms.
  template <typename Check>
  static void in_both_forms(Check&& check) {
    for (const Form each : {Form::Newer, Form::Older}) {
      SCOPED_TRACE(each == Form::Newer ? "newer form" : "older form");
      form() = each;
      check();
      if (Base::HasFatalFailure()) break;
    }
    form() = Form::Newer;
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
    EXPECT_CL(record(buffer, this->queue.get(), 1, &first, &second, nullptr));
    EXPECT_NE(first, second);
    EXPECT_CL(record(buffer, nullptr, 0, nullptr, nullptr, nullptr));

    const cl_sync_point_khr unknown = second + 100;
    EXPECT_EQ(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, record(buffer, nullptr, 1, &unknown, nullptr, nullptr));
    EXPECT_EQ(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, record(buffer, nullptr, 1, nullptr, nullptr, nullptr));
    EXPECT_EQ(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, record(buffer, nullptr, 0, &first, nullptr, nullptr));
    const Queue stranger = this->make_queue(0);
    EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, record(buffer, stranger.get(), 0, nullptr, nullptr, nullptr));
    const OtherContext other;
    EXPECT_EQ(CL_INVALID_CONTEXT, record(buffer, other.queue.get(), 0, nullptr, nullptr, nullptr));
    EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, record(nullptr, nullptr, 0, nullptr, nullptr, nullptr));
    const CommandBuffer several = record_on_all({this->queue.get(), stranger.get()});
    EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, record(several.get(), nullptr, 0, nullptr, nullptr, nullptr));
    EXPECT_CL(record(several.get(), stranger.get(), 0, nullptr, nullptr, nullptr));

    EXPECT_CL(call.finalize(buffer));
    EXPECT_EQ(CL_INVALID_OPERATION, record(buffer, nullptr, 0, nullptr, nullptr, nullptr));
  }
  /// The clauses of those that record anything but launches. `record` calls the newer form, with properties
  /// before the arguments of expect_recording_rules()'s.
  template <typename Record>
  void expect_no_properties(Record&& record) {
    const CommandBuffer owner = record_on(this->queue);
    const cl_command_buffer_khr buffer = owner;
    const icd::CommandProperties none[] = {0};
    const icd::CommandProperties fields[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
                                             CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0};
    EXPECT_CL(record(buffer, nullptr, none, 0, nullptr, nullptr, nullptr));
    EXPECT_EQ(CL_INVALID_VALUE, record(buffer, nullptr, fields, 0, nullptr, nullptr, nullptr));
    cl_mutable_command_khr handle = nullptr;
    EXPECT_EQ(CL_INVALID_VALUE, record(buffer, nullptr, nullptr, 0, nullptr, nullptr, &handle));
    EXPECT_EQ(nullptr, handle);
  }
};

using CommandBufferTest = CommandBufferTestOf<ApiTest>;
using CommandBufferImageTest = CommandBufferTestOf<ImageTest>;

}  // namespace clique::test
