// clGetEventInfo: OpenCL 3.0, section 5.11.
#include "checks.hpp"

namespace clique::test::suite_clGetEventInfo {

class clGetEventInfo : public ApiTest {
 protected:
  static cl_command_type type_of(cl_event event) {
    return info<cl_command_type>(::clGetEventInfo, event, CL_EVENT_COMMAND_TYPE);
  }
};

TEST_F(clGetEventInfo, GivenCommandThenQueueContextAndTypeAreReported) {
  const Mem mem = buffer<int>(4);
  const int data[4] = {};
  Event event;
  ASSERT_CL(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, sizeof data, data, 0, nullptr, event.out()));
  EXPECT_EQ(queue.get(), info<cl_command_queue>(::clGetEventInfo, event.get(), CL_EVENT_COMMAND_QUEUE));
  EXPECT_EQ(context.get(), info<cl_context>(::clGetEventInfo, event.get(), CL_EVENT_CONTEXT));
  EXPECT_EQ(cl_command_type{CL_COMMAND_WRITE_BUFFER}, type_of(event));
  ASSERT_CL(clFinish(queue));
  EXPECT_EQ(CL_COMPLETE, status_of(event));
  EXPECT_GE(info<cl_uint>(::clGetEventInfo, event.get(), CL_EVENT_REFERENCE_COUNT), 1U);
}

TEST_F(clGetEventInfo, GivenCommandsThenEachHasItsType) {
  const Mem a = buffer<int>(64);
  const Mem b = buffer<int>(64);
  int data[64] = {};
  const int pattern = 1;
  const size_t origin[3] = {};
  const size_t region[3] = {16, 2, 1};
  Event event;
  const auto expect = [&](cl_command_type type) { EXPECT_EQ(type, type_of(event)); };
  ASSERT_CL(clEnqueueFillBuffer(queue, a, &pattern, sizeof pattern, 0, 256, 0, nullptr, event.out()));
  expect(CL_COMMAND_FILL_BUFFER);
  ASSERT_CL(clEnqueueCopyBuffer(queue, a, b, 0, 0, 256, 0, nullptr, event.out()));
  expect(CL_COMMAND_COPY_BUFFER);
  ASSERT_CL(
      clEnqueueCopyBufferRect(queue, a, b, origin, origin, region, 16, 32, 16, 32, 0, nullptr, event.out()));
  expect(CL_COMMAND_COPY_BUFFER_RECT);
  ASSERT_CL(clEnqueueReadBuffer(queue, a, CL_TRUE, 0, 256, data, 0, nullptr, event.out()));
  expect(CL_COMMAND_READ_BUFFER);
  ASSERT_CL(clEnqueueReadBufferRect(queue, a, CL_TRUE, origin, origin, region, 16, 32, 16, 32, data, 0,
                                    nullptr, event.out()));
  expect(CL_COMMAND_READ_BUFFER_RECT);
  ASSERT_CL(clEnqueueWriteBufferRect(queue, a, CL_TRUE, origin, origin, region, 16, 32, 16, 32, data, 0,
                                     nullptr, event.out()));
  expect(CL_COMMAND_WRITE_BUFFER_RECT);
  ASSERT_CL(clEnqueueMigrateMemObjects(queue, 1, a.ptr(), 0, 0, nullptr, event.out()));
  expect(CL_COMMAND_MIGRATE_MEM_OBJECTS);
  cl_int err = CL_SUCCESS;
  void* mapped = clEnqueueMapBuffer(queue, a, CL_TRUE, CL_MAP_READ, 0, 256, 0, nullptr, event.out(), &err);
  ASSERT_EQ(CL_SUCCESS, err);
  expect(CL_COMMAND_MAP_BUFFER);
  ASSERT_CL(clEnqueueUnmapMemObject(queue, a, mapped, 0, nullptr, event.out()));
  expect(CL_COMMAND_UNMAP_MEM_OBJECT);
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, event.out()));
  expect(CL_COMMAND_MARKER);
  ASSERT_CL(clEnqueueBarrierWithWaitList(queue, 0, nullptr, event.out()));
  expect(CL_COMMAND_BARRIER);
  ASSERT_CL(clFinish(queue));
}

TEST_F(clGetEventInfo, GivenBlockedCommandThenStatusIsQueuedOrSubmittedAndCompleteAfterwards) {
  Gate gate(context);
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 1, gate.ptr(), marker.out()));
  const cl_int before = status_of(marker);
  EXPECT_TRUE(before == CL_QUEUED || before == CL_SUBMITTED) << before;
  gate.open();
  ASSERT_CL(clWaitForEvents(1, marker.ptr()));
  EXPECT_EQ(CL_COMPLETE, status_of(marker));
}

TEST_F(clGetEventInfo, GivenFlushedCommandThenStatusBecomesCompleteWithoutWaiting) {
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, marker.out()));
  ASSERT_CL(clFlush(queue));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (status_of(marker) != CL_COMPLETE && std::chrono::steady_clock::now() < deadline) {
  }
  EXPECT_EQ(CL_COMPLETE, status_of(marker));
}

TEST_F(clGetEventInfo, GivenQueueIsReleasedThenEventKeepsReportingIt) {
  Event marker;
  Queue own = make_queue();
  ASSERT_CL(clEnqueueMarkerWithWaitList(own, 0, nullptr, marker.out()));
  ASSERT_CL(clFinish(own));
  const cl_command_queue handle = own.get();
  own.reset();
  EXPECT_EQ(handle, info<cl_command_queue>(::clGetEventInfo, marker.get(), CL_EVENT_COMMAND_QUEUE));
  EXPECT_EQ(CL_COMPLETE, status_of(marker));
}

TEST_F(clGetEventInfo, GivenWrongSizeOrNameThenInvalidValue) {
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(queue, 0, nullptr, marker.out()));
  ASSERT_CL(clFinish(queue));
  for (const cl_event_info name : {CL_EVENT_COMMAND_QUEUE, CL_EVENT_CONTEXT, CL_EVENT_COMMAND_TYPE,
                                   CL_EVENT_COMMAND_EXECUTION_STATUS, CL_EVENT_REFERENCE_COUNT})
    expect_info_rules(::clGetEventInfo, marker.get(), name);
}

TEST_F(clGetEventInfo, GivenNullEventThenInvalidEvent) {
  cl_int value = 0;
  EXPECT_EQ(CL_INVALID_EVENT,
            ::clGetEventInfo(nullptr, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof value, &value, nullptr));
}

}  // namespace clique::test::suite_clGetEventInfo
