// clCreateUserEvent: OpenCL 3.0, section 5.11.
#include "helpers.hpp"

namespace clique::test::suite_clCreateUserEvent {

class clCreateUserEvent : public ApiTest {};

TEST_F(clCreateUserEvent, GivenContextWhenCreatedThenStatusIsSubmittedAndTypeIsUser) {
  const Event event = user_event();
  EXPECT_EQ(CL_SUBMITTED, info<cl_int>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_EXECUTION_STATUS));
  EXPECT_EQ(cl_command_type{CL_COMMAND_USER},
            info<cl_command_type>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_TYPE));
  EXPECT_EQ(nullptr, info<cl_command_queue>(clGetEventInfo, event.get(), CL_EVENT_COMMAND_QUEUE));
  EXPECT_EQ(context.get(), info<cl_context>(clGetEventInfo, event.get(), CL_EVENT_CONTEXT));
  EXPECT_EQ(1U, info<cl_uint>(clGetEventInfo, event.get(), CL_EVENT_REFERENCE_COUNT));
}

TEST_F(clCreateUserEvent, GivenNoErrcodeRetThenEventIsReturned) {
  const Event event(::clCreateUserEvent(context, nullptr));
  EXPECT_NE(nullptr, event.get());
}

TEST_F(clCreateUserEvent, GivenEventThatNobodySetThenItCanBeReleased) {
  for (int i = 0; i < 10; ++i) user_event();
}

TEST_F(clCreateUserEvent, GivenEventAsGateThenOnlyItsCommandsWait) {
  const Queue other_queue = make_queue();
  const int values[] = {1, 2};
  const Mem waiting = buffer<int>(1, &values[0]);
  const Mem free_to_go = buffer<int>(1, &values[0]);
  Gate gate(context);
  Event written;
  ASSERT_CL(clEnqueueWriteBuffer(queue, waiting, CL_FALSE, 0, sizeof(int), &values[1], 1, gate.ptr(),
                                 written.out()));
  ASSERT_CL(clFlush(queue));
  ASSERT_CL(clEnqueueWriteBuffer(other_queue, free_to_go, CL_TRUE, 0, sizeof(int), &values[1], 0, nullptr,
                                 nullptr));
  ASSERT_CL(clFinish(other_queue));
  EXPECT_GT(status_of(written), CL_RUNNING);
  gate.open();
  EXPECT_EQ(2, read<int>(waiting, 1).front());
  EXPECT_EQ(2, read<int>(free_to_go, 1).front());
}

TEST_F(clCreateUserEvent, GivenSeveralGatesThenCommandRunsAfterTheLast) {
  const int values[] = {1, 2};
  const Mem mem = buffer<int>(1, &values[0]);
  Gate first(context);
  Gate second(context);
  const cl_event both[] = {first, second};
  Event written;
  ASSERT_CL(clEnqueueWriteBuffer(queue, mem, CL_FALSE, 0, sizeof(int), &values[1], 2, both, written.out()));
  second.open();
  EXPECT_GT(status_of(written), CL_RUNNING);
  first.open();
  ASSERT_CL(clWaitForEvents(1, written.ptr()));
  EXPECT_EQ(2, read<int>(mem, 1).front());
}

TEST_F(clCreateUserEvent, GivenNullContextThenInvalidContext) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateUserEvent(nullptr, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

}  // namespace clique::test::suite_clCreateUserEvent
