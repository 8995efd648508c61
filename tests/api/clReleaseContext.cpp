// clReleaseContext: OpenCL 3.0, section 4.4.
#include "checks.hpp"

namespace clique::test::suite_clReleaseContext {

class clReleaseContext : public ApiTest {};

TEST_F(clReleaseContext, GivenRetainedContextThenReferenceIsTaken) {
  const Context other = another_context();
  ASSERT_CL(clRetainContext(other));
  ASSERT_CL(::clReleaseContext(other));
  EXPECT_EQ(1U, info<cl_uint>(clGetContextInfo, other.get(), CL_CONTEXT_REFERENCE_COUNT));
}

TEST_F(clReleaseContext, GivenObjectsOfTheContextThenTheyStayUsable) {
  const std::vector<cl_int> data = {3, 1, 4, 1, 5};
  const Mem mem = buffer(data.size(), data.data());
  ASSERT_CL(::clReleaseContext(context.release_ownership()));
  EXPECT_EQ(data, read<cl_int>(mem, data.size()));
  EXPECT_NE(nullptr, info<cl_context>(clGetMemObjectInfo, mem.get(), CL_MEM_CONTEXT));
}

TEST_F(clReleaseContext, GivenManyContextsThenEachIsIndependent) {
  for (int i = 0; i < 5; ++i) {
    Context other = another_context();
    EXPECT_CL(::clReleaseContext(other.release_ownership()));
  }
  EXPECT_EQ(1U, info<cl_uint>(clGetContextInfo, another_context().get(), CL_CONTEXT_REFERENCE_COUNT));
}

TEST_F(clReleaseContext, GivenNullThenInvalidContext) {
  EXPECT_EQ(CL_INVALID_CONTEXT, ::clReleaseContext(nullptr));
}

}  // namespace clique::test::suite_clReleaseContext
