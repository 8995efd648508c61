// clSVMAlloc: OpenCL 3.0, section 5.6.1.
#include "svm.hpp"

namespace clique::test::suite_clSVMAlloc {

class clSVMAlloc : public SvmTest {};

TEST_F(clSVMAlloc, GivenFlagsThenMemoryForTheHost) {
  for (const cl_svm_mem_flags flags :
       {cl_svm_mem_flags{0}, cl_svm_mem_flags{CL_MEM_READ_WRITE}, cl_svm_mem_flags{CL_MEM_READ_ONLY},
        cl_svm_mem_flags{CL_MEM_WRITE_ONLY}}) {
    const auto data = allocate<cl_int>(100, flags);
    EXPECT_EQ(0U, reinterpret_cast<uintptr_t>(data.get()) % sizeof(cl_long16));
    ASSERT_CL(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, data.get(), 400, 0, nullptr,
                              nullptr));
    std::fill_n(data.get(), 100, 7);
    EXPECT_CL(clEnqueueSVMUnmap(queue, data.get(), 0, nullptr, nullptr));
    EXPECT_EQ(std::vector<cl_int>(100, 7), read_svm(data.get(), 100));
  }
}

TEST_F(clSVMAlloc, GivenAlignmentThenAddressIsAligned) {
  for (const cl_uint alignment : {1U, 8U, 128U, 4096U, 65536U}) {
    void* memory = ::clSVMAlloc(context, CL_MEM_READ_WRITE, 10, alignment);
    ASSERT_NE(nullptr, memory) << alignment;
    EXPECT_EQ(0U, reinterpret_cast<uintptr_t>(memory) % alignment);
    ::clSVMFree(context, memory);
  }
}

TEST_F(clSVMAlloc, GivenWrongArgumentsThenNull) {
  cl_ulong largest = 0;
  for (const cl_device_id each : with_svm)
    largest = std::max(largest, info<cl_ulong>(clGetDeviceInfo, each, CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  EXPECT_EQ(nullptr, ::clSVMAlloc(nullptr, CL_MEM_READ_WRITE, 64, 0));
  EXPECT_EQ(nullptr, ::clSVMAlloc(context, CL_MEM_READ_WRITE, 0, 0));
  EXPECT_EQ(nullptr, ::clSVMAlloc(context, CL_MEM_READ_WRITE, largest + 1, 0));
  EXPECT_EQ(nullptr, ::clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 3));
  EXPECT_EQ(nullptr, ::clSVMAlloc(context, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, 0));
  EXPECT_EQ(nullptr, ::clSVMAlloc(context, CL_MEM_USE_HOST_PTR, 64, 0));
  EXPECT_EQ(nullptr, ::clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_ATOMICS, 64, 0));
}

TEST_F(clSVMAlloc, GivenFineGrainThatNoDeviceHasThenNull) {
  for (const cl_device_id each : with_svm)
    if ((info<cl_device_svm_capabilities>(clGetDeviceInfo, each, CL_DEVICE_SVM_CAPABILITIES) &
         CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0)
      GTEST_SKIP() << "a device has fine-grained sharing";
  EXPECT_EQ(nullptr, ::clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, 64, 0));
  EXPECT_EQ(
      nullptr,
      ::clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, 64, 0));
}

TEST_F(clSVMAlloc, GivenBufferOverAllocationThenItIsTheSameMemory) {
  const auto data = allocate<cl_int>(1000);
  write(data.get(), numbers(1000));
  cl_int err = CL_SUCCESS;
  const Mem whole(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 4000, data.get(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const Mem part(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 400, data.get() + 1, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const cl_buffer_region region{512, 256};
  const Mem sub(clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  for (const Mem* each : {&whole, &part, &sub})
    EXPECT_EQ(cl_bool{CL_TRUE}, info<cl_bool>(clGetMemObjectInfo, each->get(), CL_MEM_USES_SVM_POINTER));
  EXPECT_EQ(data.get() + 1, info<void*>(clGetMemObjectInfo, part.get(), CL_MEM_HOST_PTR));
  EXPECT_EQ(nullptr, info<cl_mem>(clGetMemObjectInfo, part.get(), CL_MEM_ASSOCIATED_MEMOBJECT));
  EXPECT_EQ(size_t{0}, info<size_t>(clGetMemObjectInfo, part.get(), CL_MEM_OFFSET));

  EXPECT_EQ(numbers(1000), read<cl_int>(whole, 1000));
  EXPECT_EQ(numbers(100, 2), read<cl_int>(part, 100));
  EXPECT_EQ(numbers(64, 129), read<cl_int>(sub, 64));
  const cl_int five = 5;
  EXPECT_CL(clEnqueueFillBuffer(queue, part, &five, sizeof five, 0, 8, 0, nullptr, nullptr));
  EXPECT_CL(clEnqueueFillBuffer(queue, sub, &five, sizeof five, 0, 4, 0, nullptr, nullptr));
  EXPECT_EQ((std::vector<cl_int>{1, 5, 5, 4}), read_svm(data.get(), 4));
  EXPECT_EQ((std::vector<cl_int>{5, 130}), read_svm(data.get() + 128, 2));

  auto* mapped = static_cast<cl_int*>(
      clEnqueueMapBuffer(queue, whole, CL_TRUE, CL_MAP_READ, 8, 8, 0, nullptr, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(data.get() + 2, mapped);
  EXPECT_EQ(5, mapped[0]);
  EXPECT_EQ(4, mapped[1]);
  EXPECT_CL(clEnqueueUnmapMemObject(queue, whole, mapped, 0, nullptr, nullptr));
  EXPECT_CL(clFinish(queue));
}

TEST_F(clSVMAlloc, GivenBuffersOverOneAllocationThenTheirCopiesMayOverlap) {
  const auto data = allocate<cl_int>(100);
  cl_int err = CL_SUCCESS;
  const Mem a(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 200, data.get(), &err));
  const Mem b(clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 200, data.get() + 25, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(queue, a, b, 0, 0, 101, 0, nullptr, nullptr));
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, clEnqueueCopyBuffer(queue, a, b, 100, 0, 50, 0, nullptr, nullptr));
  write(data.get(), numbers(100));
  EXPECT_CL(clEnqueueCopyBuffer(queue, a, b, 0, 0, 100, 0, nullptr, nullptr));
  EXPECT_EQ(numbers(25), read_svm(data.get() + 25, 25));
}

TEST_F(clSVMAlloc, GivenBufferLargerThanAllocationThenInvalidBufferSize) {
  const auto data = allocate<char>(64);
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 65, data.get(), &err));
  EXPECT_EQ(CL_INVALID_BUFFER_SIZE, err);
  EXPECT_EQ(nullptr, clCreateBuffer(context, CL_MEM_USE_HOST_PTR, 64, data.get() + 1, &err));
  EXPECT_EQ(CL_INVALID_BUFFER_SIZE, err);
}

}  // namespace clique::test::suite_clSVMAlloc
