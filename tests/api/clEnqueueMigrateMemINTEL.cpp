// clEnqueueMigrateMemINTEL: cl_intel_unified_shared_memory.
#include "usm.hpp"

namespace clique::test::suite_clEnqueueMigrateMemINTEL {

class clEnqueueMigrateMemINTEL : public UsmTest {};

TEST_F(clEnqueueMigrateMemINTEL, GivenFlagsThenTheContentStays) {
  const auto data = on_device<cl_int>(1000);
  write_usm(data.get(), numbers(1000));
  for (const cl_device_id each : with_svm) {
    const Queue on = make_queue(0, each);
    EXPECT_CL(migrate(on, data.get(), 4000, 0, 0, nullptr, nullptr));
    EXPECT_CL(migrate(on, data.get() + 10, 40, CL_MIGRATE_MEM_OBJECT_HOST, 0, nullptr, nullptr));
    EXPECT_CL(migrate(on, data.get(), 0, 0, 0, nullptr, nullptr));
    EXPECT_CL(::clFinish(on));
    EXPECT_EQ(numbers(1000), read_usm(data.get(), 1000));
  }
}

TEST_F(clEnqueueMigrateMemINTEL, GivenWrongArgumentsThenInvalidValue) {
  const auto data = on_device<char>(64);
  char other = 0;
  EXPECT_EQ(CL_INVALID_VALUE, migrate(queue, data.get(), 64, 1U << 10U, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, migrate(queue, data.get(), 65, 0, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, migrate(queue, &other, 1, 0, 0, nullptr, nullptr));
}

TEST_F(clEnqueueMigrateMemINTEL, GivenAnyEnqueueThenCommonRulesHold) {
  const auto data = on_device<char>(64);
  const auto enqueue = [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    return migrate(on, data.get(), 64, 0, count, list, event);
  };
  expect_enqueue_rules(context, device, CL_COMMAND_MIGRATEMEM_INTEL, enqueue, CL_INVALID_VALUE);
  expect_failed_event_ends_command(context, device, enqueue);
}

}  // namespace clique::test::suite_clEnqueueMigrateMemINTEL
