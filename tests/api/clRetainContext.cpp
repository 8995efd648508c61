// clRetainContext: OpenCL 3.0, section 4.4.
#include "checks.hpp"

namespace clique::test::suite_clRetainContext {

class clRetainContext : public ApiTest {};

TEST_F(clRetainContext, GivenContextThenReferenceIsAdded) {
  const Context other = another_context();
  expect_counted_references(other.get(), ::clRetainContext, ::clReleaseContext, clGetContextInfo,
                            CL_CONTEXT_REFERENCE_COUNT);
}

TEST_F(clRetainContext, GivenNullThenInvalidContext) {
  EXPECT_EQ(CL_INVALID_CONTEXT, ::clRetainContext(nullptr));
}

}  // namespace clique::test::suite_clRetainContext
