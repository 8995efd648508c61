// clRetainEvent: OpenCL 3.0, section 5.11.
#include "checks.hpp"

namespace clique::test::suite_clRetainEvent {

class clRetainEvent : public ApiTest {};

TEST_F(clRetainEvent, GivenEventWhenRetainedThenReferenceCountGrowsAndReleasesPairUp) {
  const Event event = user_event();
  expect_counted_references(event.get(), ::clRetainEvent, ::clReleaseEvent, clGetEventInfo,
                            CL_EVENT_REFERENCE_COUNT);
}

TEST_F(clRetainEvent, GivenNullThenInvalidEvent) {
  EXPECT_EQ(CL_INVALID_EVENT, ::clRetainEvent(nullptr));
}

}  // namespace clique::test::suite_clRetainEvent
