// clGetSemaphoreInfoKHR: cl_khr_semaphore 1.0.1.
#include "semaphores.hpp"

namespace clique::test::suite_clGetSemaphoreInfoKHR {

class clGetSemaphoreInfoKHR : public SemaphoreTest {};

TEST_F(clGetSemaphoreInfoKHR, GivenSemaphoreThenItIsAsItWasMade) {
  const cl_device_id last = devices().back();
  const Semaphore made = make_semaphore(context, last);
  EXPECT_EQ(context.get(), info<cl_context>(call.get_info, made.get(), CL_SEMAPHORE_CONTEXT_KHR));
  EXPECT_EQ(cl_semaphore_type_khr{CL_SEMAPHORE_TYPE_BINARY_KHR},
            info<cl_semaphore_type_khr>(call.get_info, made.get(), CL_SEMAPHORE_TYPE_KHR));
  EXPECT_EQ(last, info<cl_device_id>(call.get_info, made.get(), icd::api::kSemaphoreDevices));
  EXPECT_EQ(for_device(last), info<Properties>(call.get_info, made.get(), CL_SEMAPHORE_PROPERTIES_KHR));
  EXPECT_EQ(1U, info<cl_uint>(call.get_info, made.get(), CL_SEMAPHORE_REFERENCE_COUNT_KHR));
}

TEST_F(clGetSemaphoreInfoKHR, GivenOrderOfPropertiesThenItIsKept) {
  const Properties list{icd::api::kSemaphoreDevices, property_of(device),          0,
                        CL_SEMAPHORE_TYPE_KHR,       CL_SEMAPHORE_TYPE_BINARY_KHR, 0};
  const Semaphore made(call.create(context, list.data(), nullptr));
  EXPECT_EQ(list, info<Properties>(call.get_info, made.get(), CL_SEMAPHORE_PROPERTIES_KHR));
}

TEST_F(clGetSemaphoreInfoKHR, GivenPendingSignalThenPayloadIsOneFromItsEndToTheNextWait) {
  const Semaphore made = make_semaphore();
  Gate gate(context);
  Event signaled;
  ASSERT_CL(signal(queue, made, {gate}, signaled.out()));
  EXPECT_EQ(0U, payload(made));
  gate.open();
  ASSERT_CL(finished(signaled));
  EXPECT_EQ(1U, payload(made));
  ASSERT_CL(wait(queue, made));
  EXPECT_EQ(0U, payload(made));
  EXPECT_CL(clFinish(queue));
}

TEST_F(clGetSemaphoreInfoKHR, GivenEachNameThenClausesOfEveryInfoHold) {
  const Semaphore made = make_semaphore();
  for (const cl_semaphore_info_khr name :
       {CL_SEMAPHORE_CONTEXT_KHR, CL_SEMAPHORE_REFERENCE_COUNT_KHR, CL_SEMAPHORE_PROPERTIES_KHR,
        CL_SEMAPHORE_PAYLOAD_KHR, CL_SEMAPHORE_TYPE_KHR, static_cast<int>(icd::api::kSemaphoreDevices)})
    expect_info_rules(call.get_info, made.get(), name);
}

TEST_F(clGetSemaphoreInfoKHR, GivenNoSemaphoreThenInvalidSemaphore) {
  cl_semaphore_payload_khr value = 0;
  for (const cl_semaphore_khr bad : {cl_semaphore_khr{}, foreign_handle<cl_semaphore_khr>()})
    EXPECT_EQ(CL_INVALID_SEMAPHORE_KHR,
              call.get_info(bad, CL_SEMAPHORE_PAYLOAD_KHR, sizeof value, &value, nullptr));
}

}  // namespace clique::test::suite_clGetSemaphoreInfoKHR
