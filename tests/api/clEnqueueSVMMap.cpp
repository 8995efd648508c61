// clEnqueueSVMMap: OpenCL 3.0, section 5.6.2.
#include "svm.hpp"

namespace clique::test::suite_clEnqueueSVMMap {

class clEnqueueSVMMap : public SvmTest {};

TEST_F(clEnqueueSVMMap, GivenContentThenHostSeesIt) {
  const auto data = allocate<cl_int>(1000);
  write(data.get(), numbers(1000));
  ASSERT_CL(::clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, data.get(), 4000, 0, nullptr, nullptr));
  EXPECT_EQ(numbers(1000), std::vector<cl_int>(data.get(), data.get() + 1000));
  EXPECT_CL(clEnqueueSVMUnmap(queue, data.get(), 0, nullptr, nullptr));
}

TEST_F(clEnqueueSVMMap, GivenLargeAllocationThenHostSeesAllOfIt) {
  const size_t count = 3U << 20U;
  const auto data = allocate<cl_int>(count);
  write(data.get(), numbers(count));
  ASSERT_CL(::clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, data.get(), count * 4, 0, nullptr, nullptr));
  EXPECT_TRUE(numbers(count) == std::vector<cl_int>(data.get(), data.get() + count));
  EXPECT_CL(clEnqueueSVMUnmap(queue, data.get(), 0, nullptr, nullptr));
}

TEST_F(clEnqueueSVMMap, GivenPartThenOnlyThatIsWrittenBack) {
  const auto data = allocate<cl_int>(100);
  write(data.get(), numbers(100));
  ASSERT_CL(::clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, data.get() + 10, 40, 0, nullptr, nullptr));
  EXPECT_EQ(numbers(10, 11), std::vector<cl_int>(data.get() + 10, data.get() + 20));
  data[10] = -1;
  EXPECT_CL(clEnqueueSVMUnmap(queue, data.get() + 10, 0, nullptr, nullptr));
  auto expected = numbers(100);
  expected[10] = -1;
  EXPECT_EQ(expected, read_svm(data.get(), 100));
}

TEST_F(clEnqueueSVMMap, GivenWaitThenMappedAfterIt) {
  const auto data = allocate<cl_int>(1);
  write(data.get(), {1});
  const Program program = build("kernel void k(global int* data) { *data += 1; }");
  const Kernel k = kernel(program, "k");
  EXPECT_CL(clSetKernelArgSVMPointer(k, 0, data.get()));
  Gate gate(context);
  Event event;
  EXPECT_CL(launch(queue, k, 1, {gate}));
  ASSERT_CL(::clEnqueueSVMMap(queue, CL_FALSE, CL_MAP_READ, data.get(), 4, 0, nullptr, event.out()));
  EXPECT_CL(clFlush(queue));
  EXPECT_GT(status_of(event), CL_COMPLETE);
  gate.open();
  EXPECT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(2, data[0]);
  EXPECT_CL(clEnqueueSVMUnmap(queue, data.get(), 0, nullptr, nullptr));
}

TEST_F(clEnqueueSVMMap, GivenWrongRangeOrFlagsThenInvalidValue) {
  const auto data = allocate<char>(64);
  char other[64];
  const auto map = [&](void* pointer, size_t size, cl_map_flags flags = CL_MAP_READ) {
    return ::clEnqueueSVMMap(queue, CL_TRUE, flags, pointer, size, 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, map(nullptr, 64));
  EXPECT_EQ(CL_INVALID_VALUE, map(other, 64));
  EXPECT_EQ(CL_INVALID_VALUE, map(data.get(), 0));
  EXPECT_EQ(CL_INVALID_VALUE, map(data.get(), 65));
  EXPECT_EQ(CL_INVALID_VALUE, map(data.get() + 64, 1));
  EXPECT_EQ(CL_INVALID_VALUE, map(data.get(), 64, 1U << 10U));
  EXPECT_EQ(CL_INVALID_VALUE, map(data.get(), 64, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION));
}

TEST_F(clEnqueueSVMMap, GivenAnyEnqueueThenCommonRulesHold) {
  const auto data = allocate<char>(64);
  const auto map = [&](cl_bool blocking) {
    return [&, blocking](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
      return ::clEnqueueSVMMap(on, blocking, CL_MAP_READ, data.get(), 64, count, list, event);
    };
  };
  expect_enqueue_rules(context, device, CL_COMMAND_SVM_MAP, map(CL_FALSE), CL_INVALID_VALUE);
  expect_failed_event_ends_command(context, device, map(CL_FALSE));
  expect_blocking_reports_failed_event(context, device, map(CL_TRUE));
}

}  // namespace clique::test::suite_clEnqueueSVMMap
