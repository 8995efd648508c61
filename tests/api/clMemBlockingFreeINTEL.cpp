// clMemBlockingFreeINTEL: cl_intel_unified_shared_memory.
#include <chrono>
#include <thread>

#include "usm.hpp"

namespace clique::test::suite_clMemBlockingFreeINTEL {

class clMemBlockingFreeINTEL : public UsmTest {};

TEST_F(clMemBlockingFreeINTEL, GivenEnqueuedCommandsThenTheyHaveEndedWhenItReturns) {
  auto* memory = static_cast<cl_int*>(device_alloc(context, device, nullptr, 4000, 0, nullptr));
  ASSERT_NE(nullptr, memory);
  const Event gate = user_event();
  const cl_int seven = 7;
  Event filled;
  const Queue other = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, device);
  EXPECT_CL(fill(other, memory, &seven, sizeof seven, 4000, 1, gate.ptr(), filled.out()));
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_CL(::clSetUserEventStatus(gate, CL_COMPLETE));
  });
  EXPECT_CL(blocking_free(context, memory));
  EXPECT_EQ(CL_COMPLETE, info<cl_int>(clGetEventInfo, filled.get(), CL_EVENT_COMMAND_EXECUTION_STATUS));
  opener.join();
}

TEST_F(clMemBlockingFreeINTEL, GivenCommandThatFailsThenTheMemoryIsFreed) {
  void* memory = device_alloc(context, device, nullptr, 4000, 0, nullptr);
  ASSERT_NE(nullptr, memory);
  const Event gate = user_event();
  const cl_int seven = 7;
  Event filled;
  EXPECT_CL(fill(queue, memory, &seven, sizeof seven, 4000, 1, gate.ptr(), filled.out()));
  EXPECT_CL(::clSetUserEventStatus(gate, -5));
  EXPECT_CL(blocking_free(context, memory));
  EXPECT_GT(0, info<cl_int>(clGetEventInfo, filled.get(), CL_EVENT_COMMAND_EXECUTION_STATUS));
}

TEST_F(clMemBlockingFreeINTEL, GivenOtherPointersThenAsForFree) {
  char other = 0;
  EXPECT_CL(blocking_free(context, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, blocking_free(context, &other));
  EXPECT_EQ(CL_INVALID_CONTEXT, blocking_free(nullptr, nullptr));
}

}  // namespace clique::test::suite_clMemBlockingFreeINTEL
