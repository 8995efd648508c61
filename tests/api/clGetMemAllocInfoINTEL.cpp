// clGetMemAllocInfoINTEL: cl_intel_unified_shared_memory.
#include "usm.hpp"

namespace clique::test::suite_clGetMemAllocInfoINTEL {

class clGetMemAllocInfoINTEL : public UsmTest {};

TEST_F(clGetMemAllocInfoINTEL, GivenPointerIntoAllocationThenItsProperties) {
  const auto memory = on_device<char>(1000);
  for (const size_t offset : {0U, 1U, 999U}) {
    const char* const at = memory.get() + offset;
    EXPECT_EQ(cl_uint{CL_MEM_TYPE_DEVICE_INTEL}, alloc_value<cl_uint>(at, CL_MEM_ALLOC_TYPE_INTEL));
    EXPECT_EQ(memory.get(), alloc_value<void*>(at, CL_MEM_ALLOC_BASE_PTR_INTEL));
    EXPECT_EQ(1000U, alloc_value<size_t>(at, CL_MEM_ALLOC_SIZE_INTEL));
    EXPECT_EQ(device, alloc_value<cl_device_id>(at, CL_MEM_ALLOC_DEVICE_INTEL));
    EXPECT_EQ(kNoFlags, alloc_value<cl_bitfield>(at, CL_MEM_ALLOC_FLAGS_INTEL));
  }
}

TEST_F(clGetMemAllocInfoINTEL, GivenOtherPointersThenUnknown) {
  char other = 0;
  const auto memory = on_device<char>(1000);
  const auto svm = allocate<char>(64);
  for (const void* at :
       {static_cast<const void*>(&other), static_cast<const void*>(nullptr),
        static_cast<const void*>(memory.get() + 1000), static_cast<const void*>(svm.get())}) {
    EXPECT_EQ(cl_uint{CL_MEM_TYPE_UNKNOWN_INTEL}, alloc_value<cl_uint>(at, CL_MEM_ALLOC_TYPE_INTEL));
    EXPECT_EQ(nullptr, alloc_value<void*>(at, CL_MEM_ALLOC_BASE_PTR_INTEL));
    EXPECT_EQ(0U, alloc_value<size_t>(at, CL_MEM_ALLOC_SIZE_INTEL));
    EXPECT_EQ(nullptr, alloc_value<cl_device_id>(at, CL_MEM_ALLOC_DEVICE_INTEL));
    EXPECT_EQ(kNoFlags, alloc_value<cl_bitfield>(at, CL_MEM_ALLOC_FLAGS_INTEL));
  }
}

TEST_F(clGetMemAllocInfoINTEL, GivenWrongArgumentsThenErrors) {
  const auto memory = on_device<char>(10);
  size_t value = 0;
  EXPECT_EQ(CL_INVALID_CONTEXT,
            alloc_info(nullptr, memory.get(), CL_MEM_ALLOC_SIZE_INTEL, sizeof value, &value, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE,
            alloc_info(context, memory.get(), CL_MEM_ALLOC_SIZE_INTEL, sizeof value - 1, &value, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, alloc_info(context, memory.get(), CL_MEM_SIZE, sizeof value, &value, nullptr));
  EXPECT_CL(alloc_info(context, memory.get(), CL_MEM_ALLOC_SIZE_INTEL, 0, nullptr, &value));
  EXPECT_EQ(sizeof(size_t), value);
}

}  // namespace clique::test::suite_clGetMemAllocInfoINTEL
