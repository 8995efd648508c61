// clRetainContext: OpenCL 3.0, section 4.4.
#include "checks.hpp"

namespace clique::test {

class clRetainContext : public ApiTest {};

TEST_F(clRetainContext, GivenContextThenReferenceIsAdded) {
  const Context other = another_context();
  ASSERT_CL(::clRetainContext(other));
  EXPECT_EQ(2U, info<cl_uint>(clGetContextInfo, other.get(), CL_CONTEXT_REFERENCE_COUNT));
  ASSERT_CL(clReleaseContext(other));
  EXPECT_EQ(1U, info<cl_uint>(clGetContextInfo, other.get(), CL_CONTEXT_REFERENCE_COUNT));
}

TEST_F(clRetainContext, GivenNullThenInvalidContext) {
  EXPECT_EQ(CL_INVALID_CONTEXT, ::clRetainContext(nullptr));
}

}  // namespace clique::test
