// clEnqueueMemAdviseINTEL: cl_intel_unified_shared_memory.
#include "usm.hpp"

namespace clique::test::suite_clEnqueueMemAdviseINTEL {

class clEnqueueMemAdviseINTEL : public UsmTest {};

TEST_F(clEnqueueMemAdviseINTEL, GivenNoAdviceThenACommandThatChangesNothing) {
  const auto data = on_device<cl_int>(10);
  write_usm(data.get(), numbers(10));
  EXPECT_CL(advise(queue, data.get(), 40, 0, 0, nullptr, nullptr));
  EXPECT_EQ(numbers(10), read_usm(data.get(), 10));
}

TEST_F(clEnqueueMemAdviseINTEL, GivenWrongArgumentsThenInvalidValue) {
  const auto data = on_device<char>(64);
  char other = 0;
  EXPECT_EQ(CL_INVALID_VALUE, advise(queue, data.get(), 64, 1, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, advise(queue, data.get(), 65, 0, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, advise(queue, &other, 1, 0, 0, nullptr, nullptr));
}

TEST_F(clEnqueueMemAdviseINTEL, GivenAnyEnqueueThenCommonRulesHold) {
  const auto data = on_device<char>(64);
  const auto enqueue = [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    return advise(on, data.get(), 64, 0, count, list, event);
  };
  expect_enqueue_rules(context, device, CL_COMMAND_MEMADVISE_INTEL, enqueue, CL_INVALID_VALUE);
  expect_failed_event_ends_command(context, device, enqueue);
}

}  // namespace clique::test::suite_clEnqueueMemAdviseINTEL
