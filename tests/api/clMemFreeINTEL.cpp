// clMemFreeINTEL: cl_intel_unified_shared_memory.
#include "usm.hpp"

namespace clique::test::suite_clMemFreeINTEL {

class clMemFreeINTEL : public UsmTest {
 protected:
  /// Frees an allocation of 1000 numbers while commands that use it wait.
  void free_behind_commands(cl_int* memory) {
    const auto kept = on_device<cl_int>(1000);
    const Event gate = user_event();
    const cl_int seven = 7;
    EXPECT_CL(fill(queue, memory, &seven, sizeof seven, 4000, 1, gate.ptr(), nullptr));
    EXPECT_CL(copy(queue, CL_FALSE, kept.get(), memory, 4000, 0, nullptr, nullptr));
    EXPECT_CL(free(context, memory));
    EXPECT_CL(::clSetUserEventStatus(gate, CL_COMPLETE));
    EXPECT_EQ(std::vector<cl_int>(1000, 7), read_usm(kept.get(), 1000));
  }
};

TEST_F(clMemFreeINTEL, GivenNullThenNothing) {
  EXPECT_CL(free(context, nullptr));
}

TEST_F(clMemFreeINTEL, GivenOtherPointersThenInvalidValue) {
  auto* memory = static_cast<char*>(device_alloc(context, device, nullptr, 64, 0, nullptr));
  ASSERT_NE(nullptr, memory);
  char other = 0;
  EXPECT_EQ(CL_INVALID_VALUE, free(context, &other));
  EXPECT_EQ(CL_INVALID_VALUE, free(context, memory + 1));
  const auto svm = allocate<char>(64);
  EXPECT_EQ(CL_INVALID_VALUE, free(context, svm.get()));
  EXPECT_EQ(CL_INVALID_CONTEXT, free(nullptr, memory));
  EXPECT_CL(free(context, memory));
  EXPECT_EQ(CL_INVALID_VALUE, free(context, memory)) << "twice";
}

TEST_F(clMemFreeINTEL, GivenEnqueuedCommandsThenTheyStillUseTheMemory) {
  auto* memory = static_cast<cl_int*>(device_alloc(context, device, nullptr, 4000, 0, nullptr));
  ASSERT_NE(nullptr, memory);
  free_behind_commands(memory);
}

TEST_F(clMemFreeINTEL, GivenEnqueuedCommandsThenTheyStillUseHostMemory) {
  use_mapping_device();
  if (IsSkipped()) return;
  auto* memory = static_cast<cl_int*>(host_alloc(context, nullptr, 4000, 0, nullptr));
  ASSERT_NE(nullptr, memory);
  free_behind_commands(memory);
}

}  // namespace clique::test::suite_clMemFreeINTEL
