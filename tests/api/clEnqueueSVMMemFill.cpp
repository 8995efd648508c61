// clEnqueueSVMMemFill: OpenCL 3.0, section 5.6.2.
#include "svm.hpp"

namespace clique::test::suite_clEnqueueSVMMemFill {

class clEnqueueSVMMemFill : public SvmTest {};

TEST_F(clEnqueueSVMMemFill, GivenPatternsOfAllSizesThenRepeated) {
  std::vector<unsigned char> pattern(128);
  std::iota(pattern.begin(), pattern.end(), 1);
  const auto data = allocate<unsigned char>(512);
  for (size_t size = 1; size <= 128; size *= 2) {
    write(data.get(), std::vector<unsigned char>(512));
    EXPECT_CL(::clEnqueueSVMMemFill(queue, data.get() + 128, pattern.data(), size, 256, 0, nullptr, nullptr));
    const auto content = read_svm(data.get(), 512);
    for (size_t i = 0; i < 512; ++i)
      EXPECT_EQ(i < 128 || i >= 384 ? 0 : pattern[i % size], content[i]) << size << " at " << i;
  }
}

TEST_F(clEnqueueSVMMemFill, GivenWrongArgumentsThenInvalidValue) {
  const auto data = allocate<char>(64);
  const cl_int pattern = 1;
  char other[64];
  const auto fill = [&](void* to, const void* with, size_t pattern_size, size_t size) {
    return ::clEnqueueSVMMemFill(queue, to, with, pattern_size, size, 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, fill(nullptr, &pattern, 4, 64));
  EXPECT_EQ(CL_INVALID_VALUE, fill(other, &pattern, 4, 64));
  EXPECT_EQ(CL_INVALID_VALUE, fill(data.get(), nullptr, 4, 64));
  EXPECT_EQ(CL_INVALID_VALUE, fill(data.get(), &pattern, 0, 64));
  EXPECT_EQ(CL_INVALID_VALUE, fill(data.get(), &pattern, 3, 63));
  EXPECT_EQ(CL_INVALID_VALUE, fill(data.get(), &pattern, 256, 0));
  EXPECT_EQ(CL_INVALID_VALUE, fill(data.get() + 2, &pattern, 4, 8)) << "not aligned";
  EXPECT_EQ(CL_INVALID_VALUE, fill(data.get(), &pattern, 4, 6)) << "no multiple";
  EXPECT_EQ(CL_INVALID_VALUE, fill(data.get(), &pattern, 4, 68)) << "leaves the allocation";
  EXPECT_CL(fill(data.get(), &pattern, 4, 0));
}

TEST_F(clEnqueueSVMMemFill, GivenAnyEnqueueThenCommonRulesHold) {
  const auto data = allocate<char>(64);
  const cl_int pattern = 1;
  const auto fill = [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    return ::clEnqueueSVMMemFill(on, data.get(), &pattern, sizeof pattern, 64, count, list, event);
  };
  expect_enqueue_rules(context, device, CL_COMMAND_SVM_MEMFILL, fill, CL_INVALID_VALUE);
  expect_failed_event_ends_command(context, device, fill);
}

}  // namespace clique::test::suite_clEnqueueSVMMemFill
