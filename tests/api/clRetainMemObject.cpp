// clRetainMemObject: OpenCL 3.0, section 5.5.1.
#include "checks.hpp"

namespace clique::test {

class clRetainMemObject : public ApiTest {};

TEST_F(clRetainMemObject, GivenBufferThenReferenceIsAdded) {
  const Mem mem = buffer<cl_int>(4);
  ASSERT_CL(::clRetainMemObject(mem));
  EXPECT_EQ(2U, info<cl_uint>(clGetMemObjectInfo, mem.get(), CL_MEM_REFERENCE_COUNT));
  ASSERT_CL(clReleaseMemObject(mem));
  EXPECT_EQ(1U, info<cl_uint>(clGetMemObjectInfo, mem.get(), CL_MEM_REFERENCE_COUNT));
}

TEST_F(clRetainMemObject, GivenSubBufferThenItsOwnReferencesAreCounted) {
  const Mem mem = buffer<cl_int>(64);
  const cl_buffer_region region = {0, 16};
  cl_int err = CL_SUCCESS;
  const Mem sub(clCreateSubBuffer(mem, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  ASSERT_CL(::clRetainMemObject(sub));
  EXPECT_EQ(2U, info<cl_uint>(clGetMemObjectInfo, sub.get(), CL_MEM_REFERENCE_COUNT));
  ASSERT_CL(clReleaseMemObject(sub));
}

TEST_F(clRetainMemObject, GivenNullThenInvalidMemObject) {
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, ::clRetainMemObject(nullptr));
}

}  // namespace clique::test
