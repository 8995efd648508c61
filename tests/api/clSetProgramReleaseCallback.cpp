// clSetProgramReleaseCallback: OpenCL 3.0, section 5.8.3 (deprecated by 2.2 already).
#include "helpers.hpp"

namespace clique::test::suite_clSetProgramReleaseCallback {

class clSetProgramReleaseCallback : public ApiTest {
 protected:
  static void CL_CALLBACK notify(cl_program program, void* calls) {
    static_cast<Calls<cl_program>*>(calls)->add(program);
  }
};

TEST_F(clSetProgramReleaseCallback, GivenFunctionThenItIsRefusedOrCalledAtTheRelease) {
  Program program = build("kernel void k() {}");
  Calls<cl_program> calls;
  // Only devices with program-scope destructors need this function; others may return an error.
  const cl_int err = ::clSetProgramReleaseCallback(program, notify, &calls);
  if (err != CL_SUCCESS) {
    EXPECT_EQ(CL_INVALID_OPERATION, err);
    return;
  }
  const cl_program handle = program.get();
  program.reset();
  EXPECT_EQ(std::vector<cl_program>{handle}, calls.wait_for(1));
}

TEST_F(clSetProgramReleaseCallback, GivenNoFunctionThenRefused) {
  const Program program = build("kernel void k() {}");
  const cl_int err = ::clSetProgramReleaseCallback(program, nullptr, nullptr);
  EXPECT_TRUE(err == CL_INVALID_VALUE || err == CL_INVALID_OPERATION) << err;
}

TEST_F(clSetProgramReleaseCallback, GivenNullProgramThenInvalidProgram) {
  EXPECT_EQ(CL_INVALID_PROGRAM, ::clSetProgramReleaseCallback(nullptr, notify, nullptr));
}

}  // namespace clique::test::suite_clSetProgramReleaseCallback
