// clRetainEvent: OpenCL 3.0, section 5.11.
#include "helpers.hpp"

namespace clique::test {

class clRetainEvent : public ApiTest {};

TEST_F(clRetainEvent, GivenEventWhenRetainedThenReferenceCountGrowsAndReleasesPairUp) {
  const Event event = user_event();
  EXPECT_CL(::clRetainEvent(event));
  EXPECT_CL(::clRetainEvent(event));
  EXPECT_EQ(3U, info<cl_uint>(clGetEventInfo, event.get(), CL_EVENT_REFERENCE_COUNT));
  EXPECT_CL(clReleaseEvent(event));
  EXPECT_CL(clReleaseEvent(event));
  EXPECT_EQ(1U, info<cl_uint>(clGetEventInfo, event.get(), CL_EVENT_REFERENCE_COUNT));
}

TEST_F(clRetainEvent, GivenNullThenInvalidEvent) {
  EXPECT_EQ(CL_INVALID_EVENT, ::clRetainEvent(nullptr));
}

}  // namespace clique::test
