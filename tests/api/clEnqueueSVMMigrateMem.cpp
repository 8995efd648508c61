// clEnqueueSVMMigrateMem: OpenCL 3.0, section 5.6.2.
#include "svm.hpp"

namespace clique::test::suite_clEnqueueSVMMigrateMem {

class clEnqueueSVMMigrateMem : public SvmTest {};

TEST_F(clEnqueueSVMMigrateMem, GivenContentThenItIsTheSameEverywhere) {
  const auto a = allocate<cl_int>(1000);
  const auto b = allocate<cl_int>(1000);
  write(a.get(), numbers(1000));
  write(b.get(), numbers(1000, 5000));
  const void* pointers[] = {a.get() + 3, b.get() + 100};
  const size_t sizes[] = {0, 400};
  for (const cl_device_id each : with_svm)
    for (const cl_mem_migration_flags flags :
         {cl_mem_migration_flags{0}, cl_mem_migration_flags{CL_MIGRATE_MEM_OBJECT_HOST}}) {
      const Queue on = make_queue(0, each);
      EXPECT_CL(::clEnqueueSVMMigrateMem(on, 2, pointers, sizes, flags, 0, nullptr, nullptr));
      EXPECT_CL(::clEnqueueSVMMigrateMem(on, 2, pointers, nullptr, flags, 0, nullptr, nullptr));
      EXPECT_EQ(numbers(1000), read_svm(a.get(), 1000, on));
      EXPECT_EQ(numbers(1000, 5000), read_svm(b.get(), 1000, on));
    }
}

TEST_F(clEnqueueSVMMigrateMem, GivenWrongArgumentsThenInvalidValue) {
  const auto data = allocate<char>(64);
  char other[64];
  const auto migrate = [&](cl_uint count, const void* pointer, size_t size,
                           cl_mem_migration_flags flags = 0) {
    return ::clEnqueueSVMMigrateMem(queue, count, &pointer, &size, flags, 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, migrate(0, data.get(), 0));
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueSVMMigrateMem(queue, 1, nullptr, nullptr, 0, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, migrate(1, nullptr, 0));
  EXPECT_EQ(CL_INVALID_VALUE, migrate(1, other, 64));
  EXPECT_EQ(CL_INVALID_VALUE, migrate(1, data.get(), 65));
  EXPECT_EQ(CL_INVALID_VALUE, migrate(1, data.get() + 1, 64));
  EXPECT_EQ(CL_INVALID_VALUE, migrate(1, data.get(), 64, 1U << 10U));
}

TEST_F(clEnqueueSVMMigrateMem, GivenAnyEnqueueThenCommonRulesHold) {
  const auto data = allocate<char>(64);
  const auto migrate = [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    const void* pointers[] = {data.get()};
    return ::clEnqueueSVMMigrateMem(on, 1, pointers, nullptr, 0, count, list, event);
  };
  expect_enqueue_rules(context, device, CL_COMMAND_SVM_MIGRATE_MEM, migrate, CL_INVALID_VALUE);
  expect_failed_event_ends_command(context, device, migrate);
}

}  // namespace clique::test::suite_clEnqueueSVMMigrateMem
