// clCreateUserEvent: OpenCL 3.0, section 5.11.
#include "fixture.hpp"

namespace clique::test {

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

TEST_F(clCreateUserEvent, GivenNullContextThenInvalidContext) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateUserEvent(nullptr, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

}  // namespace clique::test
