// clGetSemaphoreHandleForTypeKHR: cl_khr_external_semaphore 1.0.1, of which Clique has this function only.
#include "semaphores.hpp"

namespace clique::test::suite_clGetSemaphoreHandleForTypeKHR {

class clGetSemaphoreHandleForTypeKHR : public SemaphoreTest {};

TEST_F(clGetSemaphoreHandleForTypeKHR, GivenSemaphoreWithoutHandleTypesThenInvalidValue) {
  const Semaphore made = make_semaphore();
  int handle = -1;
  size_t size = 0;
  for (const cl_external_semaphore_handle_type_khr type :
       {CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, 0})
    EXPECT_EQ(CL_INVALID_VALUE, call.get_handle(made, device, type, sizeof handle, &handle, &size)) << type;
  EXPECT_EQ(-1, handle);
}

TEST_F(clGetSemaphoreHandleForTypeKHR, GivenWrongDeviceThenInvalidDevice) {
  const Semaphore made = make_semaphore();
  for (const cl_device_id bad : {cl_device_id{}, foreign_handle<cl_device_id>()})
    EXPECT_EQ(CL_INVALID_DEVICE,
              call.get_handle(made, bad, CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, 0, nullptr, nullptr));
  const TwoDevices two;
  if (!two.context) return;
  const Semaphore of_first = make_semaphore(two.context, two.device(0));
  EXPECT_EQ(CL_INVALID_DEVICE,
            call.get_handle(of_first, two.device(1), CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, 0, nullptr, nullptr));
}

TEST_F(clGetSemaphoreHandleForTypeKHR, GivenNoSemaphoreThenInvalidSemaphore) {
  for (const cl_semaphore_khr bad : {cl_semaphore_khr{}, foreign_handle<cl_semaphore_khr>()})
    EXPECT_EQ(CL_INVALID_SEMAPHORE_KHR,
              call.get_handle(bad, device, CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, 0, nullptr, nullptr));
}

}  // namespace clique::test::suite_clGetSemaphoreHandleForTypeKHR
