// clEnqueueMemFillINTEL: cl_intel_unified_shared_memory.
#include "usm.hpp"

namespace clique::test::suite_clEnqueueMemFillINTEL {

class clEnqueueMemFillINTEL : public UsmTest {
 protected:
  void fill_with_patterns(const Allocation<unsigned char>& data) {
    std::vector<unsigned char> pattern(128);
    std::iota(pattern.begin(), pattern.end(), 1);
    for (size_t size = 1; size <= 128; size *= 2) {
      write_usm(data.get(), std::vector<unsigned char>(512));
      EXPECT_CL(fill(queue, data.get() + 128, pattern.data(), size, 256, 0, nullptr, nullptr));
      const auto content = read_usm(data.get(), 512);
      for (size_t i = 0; i < 512; ++i)
        EXPECT_EQ(i < 128 || i >= 384 ? 0 : pattern[i % size], content[i]) << size << " at " << i;
    }
  }
};

TEST_F(clEnqueueMemFillINTEL, GivenPatternsThenRepeated) {
  fill_with_patterns(on_device<unsigned char>(512));
}

TEST_F(clEnqueueMemFillINTEL, GivenHostAllocationThenPatternsRepeated) {
  use_mapping_device();
  if (IsSkipped()) return;
  fill_with_patterns(on_host<unsigned char>(512));
}

TEST_F(clEnqueueMemFillINTEL, GivenWrongArgumentsThenInvalidValue) {
  const auto data = on_device<char>(64);
  const cl_int pattern = 1;
  const auto filled = [&](void* to, const void* with, size_t pattern_size, size_t size) {
    return fill(queue, to, with, pattern_size, size, 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, filled(nullptr, &pattern, 4, 64));
  EXPECT_EQ(CL_INVALID_VALUE, filled(data.get(), nullptr, 4, 64));
  EXPECT_EQ(CL_INVALID_VALUE, filled(data.get(), &pattern, 3, 63));
  EXPECT_EQ(CL_INVALID_VALUE, filled(data.get() + 2, &pattern, 4, 8)) << "not aligned";
  EXPECT_EQ(CL_INVALID_VALUE, filled(data.get(), &pattern, 4, 6)) << "no multiple";
  EXPECT_EQ(CL_INVALID_VALUE, filled(data.get(), &pattern, 4, 68)) << "leaves the allocation";
}

TEST_F(clEnqueueMemFillINTEL, GivenAnyEnqueueThenCommonRulesHold) {
  const auto data = on_device<char>(64);
  const cl_int pattern = 1;
  const auto enqueue = [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    return fill(on, data.get(), &pattern, sizeof pattern, 64, count, list, event);
  };
  expect_enqueue_rules(context, device, CL_COMMAND_MEMFILL_INTEL, enqueue, CL_INVALID_VALUE);
  expect_failed_event_ends_command(context, device, enqueue);
}

}  // namespace clique::test::suite_clEnqueueMemFillINTEL
