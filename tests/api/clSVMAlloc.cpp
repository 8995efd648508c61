// clSVMAlloc: OpenCL 3.0, section 5.6.1.
#include "svm.hpp"

namespace clique::test {

class clSVMAlloc : public WithoutSvmTest {};

TEST_F(clSVMAlloc, GivenNoDeviceWithSvmThenNull) {
  EXPECT_EQ(nullptr, ::clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0));
  EXPECT_EQ(nullptr, ::clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 64, 0));
}

TEST_F(clSVMAlloc, GivenNullContextThenNull) {
  EXPECT_EQ(nullptr, ::clSVMAlloc(nullptr, CL_MEM_READ_WRITE, 64, 0));
}

TEST_F(clSVMAlloc, GivenNoDeviceWithSvmThenNoBufferUsesAnSvmPointer) {
  cl_int err = CL_SUCCESS;
  const Mem mem(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, memory.size(), memory.data(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(cl_bool{CL_FALSE}, info<cl_bool>(clGetMemObjectInfo, mem.get(), CL_MEM_USES_SVM_POINTER));
}

}  // namespace clique::test
