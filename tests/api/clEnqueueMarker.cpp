// clEnqueueMarker: OpenCL 3.0, deprecated entry points (OpenCL 1.1, section 5.9).
#include "helpers.hpp"

namespace clique::test::suite_clEnqueueMarker {

class clEnqueueMarker : public ApiTest {};

TEST_F(clEnqueueMarker, GivenEarlierCommandsInOutOfOrderQueueThenItCompletesAfterThem) {
  const Queue any_order = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  Gate gate(context);
  Event blocked;
  Event marker;
  ASSERT_CL(clEnqueueMarkerWithWaitList(any_order, 1, gate.ptr(), blocked.out()));
  ASSERT_CL(::clEnqueueMarker(any_order, marker.out()));
  ASSERT_CL(clFlush(any_order));
  EXPECT_GT(status_of(marker), CL_RUNNING);
  gate.open();
  ASSERT_CL(clWaitForEvents(1, marker.ptr()));
  EXPECT_EQ(CL_COMPLETE, status_of(blocked));
  EXPECT_EQ(cl_command_type{CL_COMMAND_MARKER},
            info<cl_command_type>(clGetEventInfo, marker.get(), CL_EVENT_COMMAND_TYPE));
}

TEST_F(clEnqueueMarker, GivenNullQueueThenInvalidCommandQueue) {
  Event marker;
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, ::clEnqueueMarker(nullptr, marker.out()));
}

TEST_F(clEnqueueMarker, GivenNoPlaceForTheEventThenInvalidValue) {
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueMarker(queue, nullptr));
}

}  // namespace clique::test::suite_clEnqueueMarker
