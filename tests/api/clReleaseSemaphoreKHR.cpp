// clReleaseSemaphoreKHR: cl_khr_semaphore 1.0.1.
#include "semaphores.hpp"

namespace clique::test::suite_clReleaseSemaphoreKHR {

class clReleaseSemaphoreKHR : public SemaphoreTest {};

TEST_F(clReleaseSemaphoreKHR, GivenLastReferenceThenHandleIsInvalid) {
  Semaphore made = make_semaphore();
  const cl_semaphore_khr handle = made.release_ownership();
  EXPECT_CL(call.retain(handle));
  EXPECT_CL(call.release(handle));
  EXPECT_EQ(0U, payload(handle));
  EXPECT_CL(call.release(handle));
  EXPECT_EQ(CL_INVALID_SEMAPHORE_KHR, call.release(handle));
  EXPECT_EQ(CL_INVALID_SEMAPHORE_KHR, call.retain(handle));
}

TEST_F(clReleaseSemaphoreKHR, GivenCommandsThatUseItThenTheyComplete) {
  const Queue other = make_queue();
  Gate gate(context);
  Semaphore made = make_semaphore();
  Event waited;
  ASSERT_CL(signal(queue, made, {gate}));
  ASSERT_CL(wait(other, made, {}, waited.out()));
  made.reset();
  EXPECT_GT(status_of(waited), CL_COMPLETE);
  gate.open();
  EXPECT_CL(finished(waited));
}

TEST_F(clReleaseSemaphoreKHR, GivenContextAndQueueReleasedBeforeThenItCanBeUsedAndReleased) {
  Semaphore made = make_semaphore();
  ASSERT_CL(signal(queue, made));
  ASSERT_CL(clFinish(queue));
  queue.reset();
  context.reset();
  EXPECT_EQ(1U, payload(made));
}

TEST_F(clReleaseSemaphoreKHR, GivenWaitThatNobodyCanSignalAnyMoreThenItFails) {
  Semaphore made = make_semaphore();
  Event waited;
  ASSERT_CL(wait(queue, made, {}, waited.out()));
  made.reset();
  EXPECT_EQ(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, finished(waited));
  EXPECT_LT(status_of(waited), 0);
}

TEST_F(clReleaseSemaphoreKHR, GivenNoSemaphoreThenInvalidSemaphore) {
  EXPECT_EQ(CL_INVALID_SEMAPHORE_KHR, call.release(nullptr));
  EXPECT_EQ(CL_INVALID_SEMAPHORE_KHR, call.release(foreign_handle<cl_semaphore_khr>()));
}

}  // namespace clique::test::suite_clReleaseSemaphoreKHR
