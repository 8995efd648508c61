// clRemapCommandBufferKHR: cl_khr_command_buffer_multi_device 0.9.2.
#include "command_buffers.hpp"

namespace clique::test::suite_clRemapCommandBufferKHR {

class clRemapCommandBufferKHR : public CommandBufferTest {
 protected:
  static constexpr size_t kCount = 64;
  void SetUp() override {
    CommandBufferTest::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    program = build("kernel void add(global uint* to, uint value) { to[get_global_id(0)] += value; }");
    add = kernel(program, "add");
  }
  cl_int refused(cl_command_buffer_khr buffer, cl_bool automatic, cl_uint count,
                 const cl_command_queue* queues, cl_uint handles = 0,
                 const cl_mutable_command_khr* from = nullptr, cl_mutable_command_khr* to = nullptr) {
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, call.remap(buffer, automatic, count, queues, handles, from, to, &err));
    return err;
  }
  /// Fills `target` on the first queue and adds 1 on the second one.
  CommandBuffer record(const std::vector<cl_command_queue>& queues, cl_mem target,
                       cl_mutable_command_khr* handle) {
    CommandBuffer made = record_on_all(queues, CL_COMMAND_BUFFER_MUTABLE_KHR);
    const cl_uint pattern = 7;
    cl_sync_point_khr filled = 0;
    EXPECT_CL(call.fill_buffer(made, queues.front(), target, &pattern, 4, 0, 4 * kCount, 0, nullptr, &filled,
                               nullptr));
    set_args(add, target, cl_uint{1});
    const size_t global = kCount;
    EXPECT_CL(call.nd_range(made, queues.back(), nullptr, add, 1, nullptr, &global, nullptr, 1, &filled,
                            nullptr, handle));
    return made;
  }
  Program program;
  Kernel add;
};

TEST_F(clRemapCommandBufferKHR, GivenOtherQueuesThenTheCommandsRunThereInTheirOrder) {
  const Mem target = buffer<cl_uint>(kCount);
  const Queue there = make_queue(0, devices().back());
  cl_mutable_command_khr handle = nullptr;
  const CommandBuffer made = record({queue.get(), there.get()}, target, &handle);
  ASSERT_CL(call.finalize(made));
  const cl_command_queue swapped[] = {there, queue};
  for (const cl_uint count : {2U, 1U}) {
    cl_int err = CL_INVALID_VALUE;
    cl_mutable_command_khr copied = nullptr;
    const CommandBuffer copy(
        call.remap(made, count == 1 ? CL_TRUE : CL_FALSE, count, swapped, 1, &handle, &copied, &err));
    ASSERT_CL(err);
    EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR}, state_of(copy));
    EXPECT_EQ(swapped[count - 1],
              info<cl_command_queue>(call.get_command_info, copied, CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR));
    EXPECT_EQ(copy.get(), info<cl_command_buffer_khr>(call.get_command_info, copied,
                                                      CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR));
    // The copy is independent of the original.
    const cl_uint value = 100;
    const cl_mutable_dispatch_arg_khr arg{1, sizeof value, &value};
    icd::api::DispatchConfig config{};
    config.command = copied;
    config.num_args = 1;
    config.arg_list = &arg;
    const icd::UpdateType type = icd::kDispatchConfigType;
    const void* one = &config;
    ASSERT_CL(call.update(copy, 1, &type, &one));
    EXPECT_EQ(CL_INVALID_MUTABLE_COMMAND_KHR, call.update(made, 1, &type, &one));
    Event event;
    ASSERT_CL(call.enqueue(0, nullptr, copy, 0, nullptr, event.out()));
    ASSERT_CL(clWaitForEvents(1, event.ptr()));
    EXPECT_EQ(std::vector<cl_uint>(kCount, 107), read<cl_uint>(target, kCount));
    ASSERT_CL(call.enqueue(0, nullptr, made, 0, nullptr, event.out()));
    ASSERT_CL(clWaitForEvents(1, event.ptr()));
    EXPECT_EQ(std::vector<cl_uint>(kCount, 8), read<cl_uint>(target, kCount));
  }
}

TEST_F(clRemapCommandBufferKHR, GivenRecordingThenTheCopyRecordsOn) {
  const Mem target = buffer<cl_uint>(kCount);
  const CommandBuffer made = record({queue.get()}, target, nullptr);
  const Queue other = make_queue(0, devices().back());
  const CommandBuffer copy(call.remap(made, CL_FALSE, 1, other.ptr(), 0, nullptr, nullptr, nullptr));
  ASSERT_NE(nullptr, copy.get());
  EXPECT_EQ(cl_command_buffer_state_khr{CL_COMMAND_BUFFER_STATE_RECORDING_KHR}, state_of(copy));
  ASSERT_CL(record_launch(copy, add, kCount));
  Event event;
  ASSERT_CL(call.finalize(copy));
  ASSERT_CL(call.enqueue(0, nullptr, copy, 0, nullptr, event.out()));
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(std::vector<cl_uint>(kCount, 9), read<cl_uint>(target, kCount));
}

TEST_F(clRemapCommandBufferKHR, GivenProgramThatTheDeviceLacksThenTheErrorOfTheLaunch) {
  if (devices().size() < 2) GTEST_SKIP() << "there is one device";
  const char* source = "kernel void one(global uint* to) { *to = 1; }";
  cl_int err = CL_SUCCESS;
  const Program here(clCreateProgramWithSource(context, 1, &source, nullptr, &err));
  ASSERT_CL(clBuildProgram(here, 1, &device, "", nullptr, nullptr));
  const Kernel one = kernel(here, "one");
  const Mem target = buffer<cl_uint>(1);
  set_args(one, target);
  const CommandBuffer made = record_on(queue);
  ASSERT_CL(record_launch(made, one, 1));
  const Queue there = make_queue(0, devices().back());
  EXPECT_EQ(CL_INVALID_PROGRAM_EXECUTABLE, refused(made, CL_FALSE, 1, there.ptr()));
}

TEST_F(clRemapCommandBufferKHR, GivenWrongArgumentsThenTheirErrors) {
  const Mem target = buffer<cl_uint>(kCount);
  cl_mutable_command_khr handle = nullptr;
  cl_mutable_command_khr foreign = nullptr;
  const CommandBuffer made = record({queue.get()}, target, &handle);
  const CommandBuffer stranger = record({queue.get()}, target, &foreign);
  const cl_command_queue two[] = {queue, queue};
  cl_mutable_command_khr to = nullptr;
  EXPECT_EQ(CL_INVALID_COMMAND_BUFFER_KHR, refused(nullptr, CL_FALSE, 1, two));
  EXPECT_EQ(CL_INVALID_VALUE, refused(made, CL_FALSE, 0, two));
  EXPECT_EQ(CL_INVALID_VALUE, refused(made, CL_FALSE, 1, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, refused(made, CL_FALSE, 2, two));
  EXPECT_EQ(CL_INVALID_VALUE, refused(made, CL_FALSE, 1, two, 1, nullptr, &to));
  EXPECT_EQ(CL_INVALID_VALUE, refused(made, CL_FALSE, 1, two, 1, &handle, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, refused(made, CL_FALSE, 1, two, 0, &handle, &to));
  EXPECT_EQ(CL_INVALID_VALUE, refused(made, CL_FALSE, 1, two, 1, &foreign, &to));
  const cl_command_queue none = nullptr;
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, refused(made, CL_FALSE, 1, &none));
  const OtherContext other;
  EXPECT_EQ(CL_INVALID_CONTEXT, refused(made, CL_FALSE, 1, other.queue.ptr()));
  EXPECT_EQ(nullptr, to);
}

}  // namespace clique::test::suite_clRemapCommandBufferKHR
