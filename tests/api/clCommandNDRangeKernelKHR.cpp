// clCommandNDRangeKernelKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"
#include "svm.hpp"

namespace clique::test::suite_clCommandNDRangeKernelKHR {

class clCommandNDRangeKernelKHR : public CommandBufferTest {
 protected:
  void SetUp() override {
    CommandBufferTest::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    program = build(R"(
      kernel void store(global uint* to, uint value) { to[get_global_id(0)] = value; }
      kernel void groups(global uint* to) { to[get_global_id(0)] = get_local_size(0); }
      kernel void pixel(read_only image2d_t image, sampler_t sampler, global uint* to) {
        *to = read_imageui(image, sampler, (int2)(0)).x;
      }
    )");
    store = kernel(program, "store");
  }
  Program program;
  Kernel store;
};

TEST_F(clCommandNDRangeKernelKHR, GivenArgumentsThenTheyAreThoseOfTheCall) {
  const Mem first = buffer<cl_uint>(8);
  const Mem second = buffer<cl_uint>(8);
  const CommandBuffer made = record_on(queue);
  set_args(store, first, cl_uint{1});
  ASSERT_CL(record_launch(made, store, 8));
  set_args(store, second, cl_uint{2});
  ASSERT_CL(record_launch(made, store, 8));
  set_args(store, second, cl_uint{3});
  run(made);
  EXPECT_EQ(std::vector<cl_uint>(8, 1), read<cl_uint>(first, 8));
  EXPECT_EQ(std::vector<cl_uint>(8, 2), read<cl_uint>(second, 8));
  // The kernel object keeps the arguments that the application set.
  ASSERT_CL(launch(queue, store, 8));
  EXPECT_EQ(std::vector<cl_uint>(8, 3), read<cl_uint>(second, 8));
}

TEST_F(clCommandNDRangeKernelKHR, GivenObjectsThatWereReleasedThenItRunsStill) {
  const Mem target = buffer<cl_uint>(8);
  Mem part;
  {
    const cl_buffer_region region = {0, 16};
    cl_int err = CL_SUCCESS;
    part = Mem(clCreateSubBuffer(target, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
    ASSERT_EQ(CL_SUCCESS, err);
  }
  const CommandBuffer made = record_on(queue);
  set_args(store, part, cl_uint{6});
  ASSERT_CL(record_launch(made, store, 4));
  part.reset();
  store.reset();
  program.reset();
  run(made);
  EXPECT_EQ(std::vector<cl_uint>(4, 6), read<cl_uint>(target, 4));
}

TEST_F(clCommandNDRangeKernelKHR, GivenSharedVirtualMemoryThenItIsUsed) {
  if (!has_svm(device)) GTEST_SKIP() << "the device has no shared virtual memory";
  auto* memory = static_cast<cl_uint*>(::clSVMAlloc(context, CL_MEM_READ_WRITE, 8 * sizeof(cl_uint), 0));
  ASSERT_NE(nullptr, memory);
  const cl_uint value = 7;
  ASSERT_CL(clSetKernelArgSVMPointer(store, 0, memory + 4));
  ASSERT_CL(clSetKernelArg(store, 1, sizeof value, &value));
  {
    const CommandBuffer made = record_on(queue);
    ASSERT_CL(record_launch(made, store, 4));
    // The recorded command does not change when the kernel is used for something else.
    ASSERT_CL(clSetKernelArgSVMPointer(store, 0, nullptr));
    run(made);
  }
  std::vector<cl_uint> result(4);
  EXPECT_CL(::clEnqueueSVMMemcpy(queue, CL_TRUE, result.data(), memory + 4, 4 * sizeof(cl_uint), 0, nullptr,
                                 nullptr));
  EXPECT_EQ(std::vector<cl_uint>(4, value), result);
  ::clSVMFree(context, memory);
}

TEST_F(clCommandNDRangeKernelKHR, GivenRangesThenTheyAreKept) {
  const std::vector<cl_uint> zeros(8, 0);
  const Mem target = buffer<cl_uint>(8, zeros.data());
  const Kernel groups = kernel(program, "groups");
  set_args(groups, target);
  const CommandBuffer made = record_on(queue);
  const size_t offset = 2;
  const size_t global = 6;
  const size_t local = 3;
  const size_t none = 0;
  ASSERT_CL(call.nd_range(made, nullptr, nullptr, groups, 1, &offset, &global, &local, 0, nullptr, nullptr,
                          nullptr));
  const auto version = info<std::string>(clGetDeviceInfo, device, CL_DEVICE_VERSION);
  if (version >= "OpenCL 2.1") {
    EXPECT_CL(call.nd_range(made, nullptr, nullptr, groups, 1, nullptr, &none, nullptr, 0, nullptr, nullptr,
                            nullptr));
  }
  run(made);
  EXPECT_EQ((std::vector<cl_uint>{0, 0, 3, 3, 3, 3, 3, 3}), read<cl_uint>(target, 8));
}

TEST_F(clCommandNDRangeKernelKHR, GivenImageAndSamplerThenTheyAreRead) {
  if (!info<cl_bool>(clGetDeviceInfo, device, CL_DEVICE_IMAGE_SUPPORT)) GTEST_SKIP() << "no images";
  const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT32};
  cl_image_desc desc = {};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = desc.image_height = 1;
  std::array<cl_uint, 4> color = {41, 0, 0, 0};
  cl_int err = CL_SUCCESS;
  const Mem picture(clCreateImage(context, CL_MEM_COPY_HOST_PTR, &format, &desc, color.data(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  Sampler sampler(clCreateSampler(context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const Mem target = buffer<cl_uint>(1);
  const Kernel pixel = kernel(program, "pixel");
  set_args(pixel, picture, sampler, target);
  const CommandBuffer made = record_on(queue);
  ASSERT_CL(record_launch(made, pixel, 1));
  sampler.reset();
  run(made);
  EXPECT_EQ(std::vector<cl_uint>{41}, read<cl_uint>(target, 1));
}

TEST_F(clCommandNDRangeKernelKHR, GivenWrongArgumentsThenErrorsOfTheEnqueue) {
  const CommandBuffer made = record_on(queue);
  const size_t global = 8;
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, record_launch(made, store, 8));
  EXPECT_EQ(CL_INVALID_KERNEL, record_launch(made, nullptr, 8));
  const Mem target = buffer<cl_uint>(8);
  set_args(store, target, cl_uint{1});
  const auto with_dimensions = [&](cl_uint dimensions) {
    return call.nd_range(made, nullptr, nullptr, store, dimensions, nullptr, &global, nullptr, 0, nullptr,
                         nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_WORK_DIMENSION, with_dimensions(0));
  EXPECT_EQ(CL_INVALID_WORK_DIMENSION, with_dimensions(4));
  const std::vector<std::vector<icd::CommandProperties>> wrong = {
      {0x7FFF, 1, 0},
      {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 1U << 20U, 0},
      {icd::kCommandAsserts, 2, 0},
      {icd::kCommandAsserts, icd::kAssertNoAdditionalWorkGroups, 0},
      {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 1, CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, 1, 0}};
  for (const auto& properties : wrong)
    EXPECT_EQ(CL_INVALID_VALUE, call.nd_range(made, nullptr, properties.data(), store, 1, nullptr, &global,
                                              nullptr, 0, nullptr, nullptr, nullptr));
  const OtherContext other;
  const CommandBuffer elsewhere = record_on(other.queue);
  EXPECT_EQ(CL_INVALID_CONTEXT, record_launch(elsewhere, store, 8));
}

TEST_F(clCommandNDRangeKernelKHR, GivenAssertionOfTheCommandBufferThenLocalSizesAreGiven) {
  const Mem target = buffer<cl_uint>(8);
  set_args(store, target, cl_uint{1});
  const cl_command_buffer_properties_khr asserts[] = {icd::kDispatchAsserts,
                                                      icd::kAssertNoAdditionalWorkGroups, 0};
  const CommandBuffer made(call.create(1, queue.ptr(), asserts, nullptr));
  const size_t global = 8;
  const size_t local = 4;
  for (const size_t* size : {static_cast<const size_t*>(nullptr), &local})
    EXPECT_EQ(size == nullptr ? CL_INVALID_VALUE : CL_SUCCESS,
              call.nd_range(made, nullptr, nullptr, store, 1, nullptr, &global, size, 0, nullptr, nullptr,
                            nullptr));
}

TEST_F(clCommandNDRangeKernelKHR, GivenArgumentsToComeThenTheCommandBufferIsNotExecutableBefore) {
  const icd::CommandProperties later[] = {CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
                                          CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0};
  const size_t global = 8;
  const CommandBuffer fixed = record_on(queue);
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, call.nd_range(fixed, nullptr, later, store, 1, nullptr, &global, nullptr,
                                                  0, nullptr, nullptr, nullptr));
  const CommandBuffer made = record_on(queue, CL_COMMAND_BUFFER_MUTABLE_KHR);
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, record_launch(made, store, 8));
  cl_mutable_command_khr command = nullptr;
  ASSERT_CL(call.nd_range(made, nullptr, later, store, 1, nullptr, &global, nullptr, 0, nullptr, nullptr,
                          &command));
  ASSERT_CL(call.finalize(made));
  EXPECT_EQ(icd::kStateFinalized, state_of(made));
  EXPECT_EQ(CL_INVALID_OPERATION, call.enqueue(0, nullptr, made, 0, nullptr, nullptr));
}

TEST_F(clCommandNDRangeKernelKHR, GivenCallThenRulesOfEveryRecordingHold) {
  const Mem target = buffer<cl_uint>(8);
  set_args(store, target, cl_uint{1});
  const size_t global = 8;
  expect_recording_rules([&](auto recording, auto on, auto... rest) {
    return call.nd_range(recording, on, nullptr, store, 1, nullptr, &global, nullptr, rest...);
  });
}

}  // namespace clique::test::suite_clCommandNDRangeKernelKHR
