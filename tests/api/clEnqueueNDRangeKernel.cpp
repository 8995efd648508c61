// clEnqueueNDRangeKernel: OpenCL 3.0, section 5.10.
#include <limits>

#include "helpers.hpp"

namespace clique::test::suite_clEnqueueNDRangeKernel {

class clEnqueueNDRangeKernel : public ApiTest {
 protected:
  static constexpr char source[] = R"(
kernel void ids(global uint* out) {
  size_t w = get_global_size(0), h = get_global_size(1);
  size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1),
         z = get_global_id(2) - get_global_offset(2);
  out[(z * h + y) * w + x] = get_global_id(0) + 100 * get_global_id(1) + 10000 * get_global_id(2);
}
kernel void groups(global uint* out) {
  out[get_global_id(0)] = get_local_id(0) + 100 * get_group_id(0) + 10000 * get_local_size(0) +
                          1000000 * get_num_groups(0);
}
kernel __attribute__((reqd_work_group_size(4, 2, 1))) void fixed(global uint* out) {
  out[get_global_id(1) * get_global_size(0) + get_global_id(0)] = get_local_size(0) * 10 + get_local_size(1);
}
kernel void sums(global const int* in, global int* out) {
  local int part[16];
  size_t l = get_local_id(0);
  part[l] = in[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (size_t half_size = get_local_size(0) / 2; half_size > 0; half_size /= 2) {
    if (l < half_size) part[l] += part[l + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) out[get_group_id(0)] = part[0];
}
kernel void store(global int* out, int value) { *out = value; }
kernel void append(global int* list, int value) { list[++list[0]] = value; }
)";

  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) return;
    program = build(source);
  }
  cl_int enqueue(cl_command_queue on, cl_kernel k, cl_uint dims, const size_t* offset, const size_t* global,
                 const size_t* local) {
    return ::clEnqueueNDRangeKernel(on, k, dims, offset, global, local, 0, nullptr, nullptr);
  }
  /// A kernel whose arguments are set, for the clauses about errors.
  Kernel ready_store(cl_mem out) {
    Kernel store = kernel(program, "store");
    set_args(store, out, 1);
    return store;
  }
  void expect_ids(cl_uint dims, const std::vector<size_t>& offset, const std::vector<size_t>& global,
                  const size_t* local) {
    const size_t count = global[0] * global[1] * global[2];
    const Mem out = buffer<cl_uint>(count);
    const Kernel ids = kernel(program, "ids");
    set_args(ids, out);
    ASSERT_CL(enqueue(queue, ids, dims, offset.empty() ? nullptr : offset.data(), global.data(), local));
    std::vector<cl_uint> expected;
    const auto at = [&](size_t i) { return offset.empty() ? 0 : offset[i]; };
    for (size_t z = 0; z < global[2]; ++z) {
      for (size_t y = 0; y < global[1]; ++y) {
        for (size_t x = 0; x < global[0]; ++x)
          expected.push_back(static_cast<cl_uint>(x + at(0) + 100 * (y + at(1)) + 10000 * (z + at(2))));
      }
    }
    EXPECT_EQ(expected, read<cl_uint>(out, count));
  }
  static constexpr size_t nothing = 0;
  Program program;
};

TEST_F(clEnqueueNDRangeKernel, GivenOneTwoOrThreeDimensionsThenEveryItemRunsWithItsIds) {
  expect_ids(1, {}, {37, 1, 1}, nullptr);
  expect_ids(2, {}, {8, 6, 1}, nullptr);
  expect_ids(3, {}, {4, 3, 5}, nullptr);
}

TEST_F(clEnqueueNDRangeKernel, GivenOffsetsThenIdsStartThere) {
  expect_ids(1, {11, 0, 0}, {16, 1, 1}, nullptr);
  expect_ids(2, {3, 7, 0}, {8, 6, 1}, nullptr);
  expect_ids(3, {1, 2, 3}, {4, 3, 2}, nullptr);
}

TEST_F(clEnqueueNDRangeKernel, GivenLocalSizeInThreeDimensionsThenEveryItemRuns) {
  const size_t local[] = {2, 3, 2};
  expect_ids(3, {5, 5, 5}, {4, 6, 4}, local);
}

TEST_F(clEnqueueNDRangeKernel, GivenLocalSizeThenGroupsHaveIt) {
  const Mem out = buffer<cl_uint>(24);
  const Kernel groups = kernel(program, "groups");
  set_args(groups, out);
  const size_t global = 24;
  const size_t local = 8;
  ASSERT_CL(enqueue(queue, groups, 1, nullptr, &global, &local));
  std::vector<cl_uint> expected;
  for (cl_uint i = 0; i < 24; ++i) expected.push_back(i % 8 + 100 * (i / 8) + 10000 * 8 + 1000000 * 3);
  EXPECT_EQ(expected, read<cl_uint>(out, 24));
}

TEST_F(clEnqueueNDRangeKernel, GivenBufferInTheOtherArgumentThenThatOneIsWritten) {
  const Program either = build(R"(
    kernel void either(global int* up, global int* down) {
      const int i = get_global_id(0), last = 63 - i;
      if (up) up[i] = i;
      if (down) down[last] = 100 + i;
    })");
  const Kernel write = kernel(either, "either");
  const Mem first = buffer<int>(64), second = buffer<int>(64);
  const size_t global = 64, local = 8;
  const cl_mem none = nullptr;
  const auto launch = [&](cl_mem up, cl_mem down) {
    ASSERT_CL(clSetKernelArg(write, 0, sizeof up, &up));
    ASSERT_CL(clSetKernelArg(write, 1, sizeof down, &down));
    ASSERT_CL(enqueue(queue, write, 1, nullptr, &global, &local));
  };
  launch(first, none);
  launch(none, second);
  std::vector<int> up(64), down(64);
  for (int i = 0; i < 64; ++i) {
    up[i] = i;
    down[63 - i] = 100 + i;
  }
  EXPECT_EQ(up, read<int>(first, 64));
  EXPECT_EQ(down, read<int>(second, 64));
}

TEST_F(clEnqueueNDRangeKernel, GivenRequiredWorkGroupSizeThenGroupsHaveIt) {
  const Kernel fixed = kernel(program, "fixed");
  const size_t global[] = {8, 4};
  const size_t local[] = {4, 2};
  const Mem out = buffer<cl_uint>(32);
  set_args(fixed, out);
  ASSERT_CL(enqueue(queue, fixed, 2, nullptr, global, local));
  EXPECT_EQ(std::vector<cl_uint>(32, 42), read<cl_uint>(out, 32));
}

TEST_F(clEnqueueNDRangeKernel, GivenRequiredWorkGroupSizeAndNoLocalSizeThenTheRequiredOneIsUsedOrRefused) {
  const Kernel fixed = kernel(program, "fixed");
  const size_t global[] = {8, 4};
  const Mem out = buffer<cl_uint>(32);
  set_args(fixed, out);
  const cl_int err = enqueue(queue, fixed, 2, nullptr, global, nullptr);
  // This was an error up to OpenCL 2.0, and many drivers still return it.
  if (err == CL_INVALID_WORK_GROUP_SIZE) return;
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(std::vector<cl_uint>(32, 42), read<cl_uint>(out, 32));
}

TEST_F(clEnqueueNDRangeKernel, GivenLocalMemoryAndBarriersThenGroupsReduce) {
  std::vector<int> data(64);
  for (int i = 0; i < 64; ++i) data[i] = i * i;
  const Mem in = buffer<int>(64, data.data());
  const Mem out = buffer<int>(4);
  const Kernel sums = kernel(program, "sums");
  set_args(sums, in, out);
  const size_t global = 64;
  const size_t local = 16;
  ASSERT_CL(enqueue(queue, sums, 1, nullptr, &global, &local));
  std::vector<int> expected(4, 0);
  for (int i = 0; i < 64; ++i) expected[i / 16] += data[i];
  EXPECT_EQ(expected, read<int>(out, 4));
}

TEST_F(clEnqueueNDRangeKernel, GivenArgumentsChangedAfterEnqueueThenCommandHasThoseOfItsEnqueue) {
  const Mem first = buffer<int>(1);
  const Mem second = buffer<int>(1);
  const Kernel store = kernel(program, "store");
  Gate gate(context);
  set_args(store, first, 1);
  ASSERT_CL(launch(queue, store, 1, {gate}));
  set_args(store, second, 2);
  ASSERT_CL(launch(queue, store, 1));
  set_args(store, second, 3);
  gate.open();
  EXPECT_EQ(1, read<int>(first, 1).front());
  EXPECT_EQ(2, read<int>(second, 1).front());
}

TEST_F(clEnqueueNDRangeKernel, GivenInOrderQueueThenCommandsRunInOrderOfEnqueue) {
  const int zero[65] = {};
  const Mem list = buffer<int>(65, zero);
  const Kernel append = kernel(program, "append");
  std::vector<int> expected = {64};
  for (int i = 0; i < 64; ++i) {
    set_args(append, list, i);
    ASSERT_CL(launch(queue, append, 1));
    expected.push_back(i);
  }
  EXPECT_EQ(expected, read<int>(list, 65));
}

TEST_F(clEnqueueNDRangeKernel, GivenOutOfOrderQueueThenWaitListsGiveTheOrder) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  const int zero[33] = {};
  const Mem list = buffer<int>(33, zero);
  const Kernel append = kernel(program, "append");
  Event last;
  std::vector<int> expected = {32};
  for (int i = 0; i < 32; ++i) {
    Event next;
    set_args(append, list, i);
    ASSERT_CL(launch(any_order, append, 1, last.get() ? std::vector<cl_event>{last} : std::vector<cl_event>{},
                     next.out()));
    last = std::move(next);
    expected.push_back(i);
  }
  ASSERT_CL(clFinish(any_order));
  EXPECT_EQ(expected, read<int>(list, 33));
}

TEST_F(clEnqueueNDRangeKernel, GivenWaitListThenCommandRunsAfterItsEvents) {
  const Mem out = buffer<int>(1);
  const int before = -1;
  ASSERT_CL(clEnqueueWriteBuffer(queue, out, CL_TRUE, 0, sizeof before, &before, 0, nullptr, nullptr));
  const Kernel store = ready_store(out);
  Gate gate(context);
  Event event;
  ASSERT_CL(launch(queue, store, 1, {gate}, event.out()));
  ASSERT_CL(clFlush(queue));
  EXPECT_GT(status_of(event), CL_RUNNING);
  const Queue other_queue = make_queue();
  int now = 0;
  ASSERT_CL(clEnqueueReadBuffer(other_queue, out, CL_TRUE, 0, sizeof now, &now, 0, nullptr, nullptr));
  EXPECT_EQ(-1, now);
  gate.open();
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(CL_COMPLETE, status_of(event));
  EXPECT_EQ(1, read<int>(out, 1).front());
}

TEST_F(clEnqueueNDRangeKernel, GivenEventThenItDescribesTheCommand) {
  const Mem out = buffer<int>(1);
  Event event;
  ASSERT_CL(launch(queue, ready_store(out), 1, {}, event.out()));
  EXPECT_EQ(cl_command_type{CL_COMMAND_NDRANGE_KERNEL},
            info<cl_command_type>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_TYPE));
  EXPECT_EQ(queue.get(), info<cl_command_queue>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_QUEUE));
  ASSERT_CL(clFinish(queue));
}

TEST_F(clEnqueueNDRangeKernel, GivenSameKernelOnAllDevicesThenEachResultIsRight) {
  const Kernel store = kernel(program, "store");
  for (size_t i = 0; i < devices().size(); ++i) {
    const Queue on = make_queue(0, devices()[i]);
    const Mem out = buffer<int>(1);
    set_args(store, out, static_cast<int>(i) + 50);
    ASSERT_CL(launch(on, store, 1));
    ASSERT_CL(clFinish(on));
    EXPECT_EQ(static_cast<int>(i) + 50, read<int>(out, 1).front());
  }
}

TEST_F(clEnqueueNDRangeKernel, GivenEmptyRangeThenNothingRunsAndEventCompletes) {
  if (info<std::string>(clGetDeviceInfo, device, CL_DEVICE_VERSION) < "OpenCL 2.1")
    GTEST_SKIP() << "empty ranges are valid from OpenCL 2.1 on";
  const int before = 9;
  const Mem out = buffer<int>(1, &before);
  const Kernel store = ready_store(out);
  for (const size_t* global : {static_cast<const size_t*>(nullptr), &nothing}) {
    Event event;
    ASSERT_CL(::clEnqueueNDRangeKernel(queue, store, 1, nullptr, global, nullptr, 0, nullptr, event.out()));
    ASSERT_CL(clWaitForEvents(1, event.ptr()));
    EXPECT_EQ(CL_COMPLETE, status_of(event));
  }
  EXPECT_EQ(9, read<int>(out, 1).front());
}

TEST_F(clEnqueueNDRangeKernel, GivenNullQueueThenInvalidCommandQueue) {
  const Mem out = buffer<int>(1);
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, launch(nullptr, ready_store(out), 1));
}

TEST_F(clEnqueueNDRangeKernel, GivenHandleThatIsNoKernelThenInvalidKernel) {
  EXPECT_EQ(CL_INVALID_KERNEL, launch(queue, nullptr, 1));
  EXPECT_EQ(CL_INVALID_KERNEL, launch(queue, foreign_handle<cl_kernel>(), 1));
}

TEST_F(clEnqueueNDRangeKernel, GivenProgramNotBuiltForTheQueuesDeviceThenInvalidProgramExecutable) {
  if (devices().size() < 2) GTEST_SKIP() << "needs two devices";
  const char* text = source;
  const Program partial(clCreateProgramWithSource(context, 1, &text, nullptr, nullptr));
  ASSERT_CL(clBuildProgram(partial, 1, &devices().front(), "", nullptr, nullptr));
  const Kernel store = kernel(partial, "store");
  const Mem out = buffer<int>(1);
  set_args(store, out, 1);
  EXPECT_EQ(CL_INVALID_PROGRAM_EXECUTABLE, launch(make_queue(0, devices().back()), store, 1));
}

TEST_F(clEnqueueNDRangeKernel, GivenQueueKernelOrEventOfAnotherContextThenInvalidContext) {
  const OtherContext other;
  const Mem out = buffer<int>(1);
  const Kernel store = ready_store(out);
  EXPECT_EQ(CL_INVALID_CONTEXT, launch(other.queue, store, 1));
  EXPECT_EQ(CL_INVALID_CONTEXT, launch(queue, store, 1, {other.event}));
}

TEST_F(clEnqueueNDRangeKernel, GivenUnsetArgumentThenInvalidKernelArgs) {
  const Mem out = buffer<int>(1);
  const Kernel store = kernel(program, "store");
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, launch(queue, store, 1));
  set_args(store, out);
  EXPECT_EQ(CL_INVALID_KERNEL_ARGS, launch(queue, store, 1));
  set_args(store, out, 1);
  EXPECT_CL(launch(queue, store, 1));
  EXPECT_CL(clFinish(queue));
}

TEST_F(clEnqueueNDRangeKernel, GivenWrongWorkDimensionThenInvalidWorkDimension) {
  const Mem out = buffer<int>(1);
  const Kernel store = ready_store(out);
  const size_t global[] = {1, 1, 1, 1};
  EXPECT_EQ(CL_INVALID_WORK_DIMENSION, enqueue(queue, store, 0, nullptr, global, nullptr));
  EXPECT_EQ(CL_INVALID_WORK_DIMENSION, enqueue(queue, store, 4, nullptr, global, nullptr));
  EXPECT_EQ(CL_INVALID_WORK_DIMENSION, enqueue(queue, store, ~0U, nullptr, global, nullptr));
}

TEST_F(clEnqueueNDRangeKernel, GivenOffsetPlusSizeBeyondSizeTThenInvalidGlobalOffset) {
  const Mem out = buffer<int>(1);
  const Kernel store = ready_store(out);
  const size_t offset = std::numeric_limits<size_t>::max() - 3;
  const size_t global = 16;
  EXPECT_EQ(CL_INVALID_GLOBAL_OFFSET, enqueue(queue, store, 1, &offset, &global, nullptr));
}

TEST_F(clEnqueueNDRangeKernel, GivenLocalSizeThatDoesNotDivideThenInvalidWorkGroupSize) {
  const Program uniform =
      build(source, "-cl-std=CL1.2");  // since 2.0 a device may support partial work-groups
  const Kernel store = kernel(uniform, "store");
  const Mem out = buffer<int>(1);
  set_args(store, out, 1);
  const size_t global[] = {10, 9};
  const size_t local[] = {5, 2};
  EXPECT_EQ(CL_INVALID_WORK_GROUP_SIZE, enqueue(queue, store, 2, nullptr, global, local));
}

TEST_F(clEnqueueNDRangeKernel, GivenLocalSizeOtherThanRequiredThenInvalidWorkGroupSize) {
  const Kernel fixed = kernel(program, "fixed");
  const Mem out = buffer<cl_uint>(64);
  set_args(fixed, out);
  const size_t global[] = {8, 8};
  const size_t local[] = {2, 4};
  EXPECT_EQ(CL_INVALID_WORK_GROUP_SIZE, enqueue(queue, fixed, 2, nullptr, global, local));
}

TEST_F(clEnqueueNDRangeKernel, GivenGroupBeyondTheDevicesLimitThenInvalidWorkGroupSize) {
  const Mem out = buffer<int>(1);
  const Kernel store = ready_store(out);
  const auto limits = info<std::vector<size_t>>(clGetDeviceInfo, device, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  const auto limit = info<size_t>(clGetDeviceInfo, device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  if (limits[1] < 2) GTEST_SKIP() << "groups have one dimension only";
  const size_t local[] = {std::min(limits[0], limit), 2};
  if (local[0] * local[1] <= limit) GTEST_SKIP() << "no such group within the work-item limits";
  EXPECT_EQ(CL_INVALID_WORK_GROUP_SIZE, enqueue(queue, store, 2, nullptr, local, local));
}

TEST_F(clEnqueueNDRangeKernel, GivenLocalSizeBeyondTheDevicesLimitThenInvalidWorkItemOrGroupSize) {
  const Mem out = buffer<int>(1);
  const Kernel store = ready_store(out);
  const auto limits = info<std::vector<size_t>>(clGetDeviceInfo, device, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  const size_t local[] = {1, 1, limits[2] * 2};
  // Such a work-group is often too large in total as well, and the specification does not say which clause
  // comes first.
  const cl_int err = enqueue(queue, store, 3, nullptr, local, local);
  EXPECT_TRUE(err == CL_INVALID_WORK_ITEM_SIZE || err == CL_INVALID_WORK_GROUP_SIZE) << err;
}

TEST_F(clEnqueueNDRangeKernel, GivenLocalSizeZeroThenInvalidWorkGroupOrItemSize) {
  const Mem out = buffer<int>(1);
  const Kernel store = ready_store(out);
  const size_t global = 4;
  const cl_int err = enqueue(queue, store, 1, nullptr, &global, &nothing);
  EXPECT_TRUE(err == CL_INVALID_WORK_GROUP_SIZE || err == CL_INVALID_WORK_ITEM_SIZE) << err;
}

TEST_F(clEnqueueNDRangeKernel, GivenWaitListAndCountThatDisagreeThenInvalidEventWaitList) {
  const Mem out = buffer<int>(1);
  const Kernel store = ready_store(out);
  const Event done = user_event();
  ASSERT_CL(clSetUserEventStatus(done, CL_COMPLETE));
  const size_t one = 1;
  const cl_event list[] = {done, nullptr};
  const cl_event foreign[] = {done, foreign_handle<cl_event>()};
  const auto enqueue_after = [&](cl_uint count, const cl_event* events) {
    return ::clEnqueueNDRangeKernel(queue, store, 1, nullptr, &one, nullptr, count, events, nullptr);
  };
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, enqueue_after(1, nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, enqueue_after(0, list));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, enqueue_after(2, list));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST, enqueue_after(2, foreign));
}

// Both launches need the content that is on its way to their device.
TEST_F(clEnqueueNDRangeKernel, GivenUnorderedLaunchesBehindOneTransferThenBothChangesStay) {
  if (devices().size() < 2) GTEST_SKIP() << "needs two devices";
  constexpr size_t count = size_t{8} << 20;
  const Program program = build("kernel void increment(global int* data, ulong i) { ++data[i]; }");
  const Kernel first = kernel(program, "increment"), last = kernel(program, "increment");
  const Queue unordered = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, devices().back());
  for (cl_int round = 0; round < 5; ++round) {
    const Mem data = buffer<cl_int>(count);
    const Event begin = user_event();
    Event filled;
    Event ran[2];
    ASSERT_CL(clEnqueueFillBuffer(queue, data, &round, sizeof round, 0, count * sizeof round, 1, begin.ptr(),
                                  filled.out()));
    set_args(first, data, cl_ulong{0});
    set_args(last, data, cl_ulong{count - 1});
    const size_t one = 1;
    ASSERT_CL(
        ::clEnqueueNDRangeKernel(unordered, first, 1, nullptr, &one, nullptr, 1, filled.ptr(), ran[0].out()));
    ASSERT_CL(
        ::clEnqueueNDRangeKernel(unordered, last, 1, nullptr, &one, nullptr, 1, filled.ptr(), ran[1].out()));
    ASSERT_CL(clFlush(unordered));
    ASSERT_CL(clSetUserEventStatus(begin, CL_COMPLETE));
    ASSERT_CL(clFinish(unordered));
    std::vector<cl_int> result(count);
    ASSERT_CL(clEnqueueReadBuffer(unordered, data, CL_TRUE, 0, count * sizeof(cl_int), result.data(), 0,
                                  nullptr, nullptr));
    EXPECT_EQ(result.front(), round + 1);
    EXPECT_EQ(result.back(), round + 1);
    EXPECT_EQ(result[count / 2], round);
  }
}

}  // namespace clique::test::suite_clEnqueueNDRangeKernel
