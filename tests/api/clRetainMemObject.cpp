// clRetainMemObject: OpenCL 3.0, section 5.5.1.
#include "checks.hpp"

namespace clique::test::suite_clRetainMemObject {

class clRetainMemObject : public ApiTest {};

TEST_F(clRetainMemObject, GivenBufferThenReferenceIsAdded) {
  const Mem mem = buffer<cl_int>(4);
  expect_counted_references(mem.get(), ::clRetainMemObject, ::clReleaseMemObject, clGetMemObjectInfo,
                            CL_MEM_REFERENCE_COUNT);
}

TEST_F(clRetainMemObject, GivenSubBufferThenItsOwnReferencesAreCounted) {
  const Mem mem = buffer<cl_int>(64);
  const cl_buffer_region region = {0, 16};
  cl_int err = CL_SUCCESS;
  const Mem sub(clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  expect_counted_references(sub.get(), ::clRetainMemObject, ::clReleaseMemObject, clGetMemObjectInfo,
                            CL_MEM_REFERENCE_COUNT);
}

TEST_F(clRetainMemObject, GivenNullThenInvalidMemObject) {
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, ::clRetainMemObject(nullptr));
}

}  // namespace clique::test::suite_clRetainMemObject
