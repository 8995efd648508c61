// clRetainSemaphoreKHR: cl_khr_semaphore 1.0.1.
#include "semaphores.hpp"

namespace clique::test::suite_clRetainSemaphoreKHR {

class clRetainSemaphoreKHR : public SemaphoreTest {};

TEST_F(clRetainSemaphoreKHR, GivenSemaphoreThenReferencesAreCounted) {
  const Semaphore made = make_semaphore();
  expect_counted_references(made.get(), call.retain, call.release, call.get_info,
                            cl_semaphore_info_khr{CL_SEMAPHORE_REFERENCE_COUNT_KHR});
}

TEST_F(clRetainSemaphoreKHR, GivenNoSemaphoreThenInvalidSemaphore) {
  EXPECT_EQ(CL_INVALID_SEMAPHORE_KHR, call.retain(nullptr));
  EXPECT_EQ(CL_INVALID_SEMAPHORE_KHR, call.retain(foreign_handle<cl_semaphore_khr>()));
}

}  // namespace clique::test::suite_clRetainSemaphoreKHR
