// clCreatePipe: OpenCL 3.0, section 5.4.1.
#include "checks.hpp"

namespace clique::test::suite_clCreatePipe {

class clCreatePipe : public ApiTest {
 protected:
  bool pipes() {
    for (const cl_device_id each : devices()) {
      if (info<cl_bool>(clGetDeviceInfo, each, CL_DEVICE_PIPE_SUPPORT)) return true;
    }
    return false;
  }
  cl_int create(cl_mem_flags flags, cl_uint packet_size, cl_uint packets,
                const cl_pipe_properties* properties = nullptr) {
    cl_int err = CL_SUCCESS;
    made = Mem(::clCreatePipe(context, flags, packet_size, packets, properties, &err));
    EXPECT_EQ(err == CL_SUCCESS, made.get() != nullptr) << err;
    return err;
  }
  Mem made;
};

TEST_F(clCreatePipe, GivenNoDeviceWithPipesThenInvalidOperation) {
  if (pipes()) GTEST_SKIP() << "a device supports pipes";
  EXPECT_EQ(CL_INVALID_OPERATION, create(0, 4, 16));
  EXPECT_EQ(CL_INVALID_OPERATION, create(CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS, 4, 16));
}

TEST_F(clCreatePipe, GivenDeviceWithPipesThenCreatedAndReported) {
  if (!pipes()) GTEST_SKIP() << "no device supports pipes";
  ASSERT_CL(create(CL_MEM_HOST_NO_ACCESS, 4, 16));
  EXPECT_EQ(cl_mem_object_type{CL_MEM_OBJECT_PIPE},
            info<cl_mem_object_type>(clGetMemObjectInfo, made.get(), CL_MEM_TYPE));
}

TEST_F(clCreatePipe, GivenDeviceWithPipesAndBadArgumentsThenTheirErrors) {
  if (!pipes()) GTEST_SKIP() << "no device supports pipes";
  const cl_pipe_properties properties[] = {0};
  EXPECT_EQ(CL_INVALID_PIPE_SIZE, create(0, 0, 16));
  EXPECT_EQ(CL_INVALID_PIPE_SIZE, create(0, 4, 0));
  EXPECT_EQ(CL_INVALID_PIPE_SIZE, create(0, ~cl_uint{0}, 16));
  EXPECT_EQ(CL_INVALID_VALUE, create(CL_MEM_READ_ONLY, 4, 16));
  EXPECT_EQ(CL_INVALID_VALUE, create(0, 4, 16, properties));
}

TEST_F(clCreatePipe, GivenNullContextThenInvalidContext) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreatePipe(nullptr, 0, 4, 16, nullptr, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

}  // namespace clique::test::suite_clCreatePipe
