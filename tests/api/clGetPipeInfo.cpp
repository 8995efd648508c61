// clGetPipeInfo: OpenCL 3.0, section 5.4.2.
#include "checks.hpp"

namespace clique::test::suite_clGetPipeInfo {

class clGetPipeInfo : public ApiTest {};

TEST_F(clGetPipeInfo, GivenObjectThatIsNoPipeThenInvalidMemObject) {
  const Mem no_pipe = buffer<cl_int>(4);
  cl_uint value = 0;
  EXPECT_EQ(CL_INVALID_MEM_OBJECT,
            ::clGetPipeInfo(no_pipe, CL_PIPE_PACKET_SIZE, sizeof value, &value, nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT,
            ::clGetPipeInfo(nullptr, CL_PIPE_PACKET_SIZE, sizeof value, &value, nullptr));
}

TEST_F(clGetPipeInfo, GivenPipeThenWhatItWasMadeWith) {
  cl_int err = CL_SUCCESS;
  const Mem pipe(clCreatePipe(context, 0, 4, 16, nullptr, &err));
  if (err == CL_INVALID_OPERATION) GTEST_SKIP() << "no device supports pipes";
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(4U, info<cl_uint>(::clGetPipeInfo, pipe.get(), CL_PIPE_PACKET_SIZE));
  EXPECT_EQ(16U, info<cl_uint>(::clGetPipeInfo, pipe.get(), CL_PIPE_MAX_PACKETS));
  expect_info_rules(::clGetPipeInfo, pipe.get(), cl_pipe_info{CL_PIPE_PACKET_SIZE});
}

}  // namespace clique::test::suite_clGetPipeInfo
