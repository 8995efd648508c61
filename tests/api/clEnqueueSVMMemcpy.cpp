// clEnqueueSVMMemcpy: OpenCL 3.0, section 5.6.2.
#include "svm.hpp"

namespace clique::test::suite_clEnqueueSVMMemcpy {

class clEnqueueSVMMemcpy : public SvmTest {
 protected:
  cl_int copy(void* to, const void* from, size_t size, cl_bool blocking = CL_TRUE) {
    return ::clEnqueueSVMMemcpy(queue, blocking, to, from, size, 0, nullptr, nullptr);
  }
};

TEST_F(clEnqueueSVMMemcpy, GivenAnyKindsOfMemoryThenCopied) {
  for (const size_t count : {size_t{1}, size_t{1000}, size_t{1} << 20U})
    for (const cl_bool blocking : {CL_TRUE, CL_FALSE}) {
      const auto a = allocate<cl_int>(count + 1);
      const auto b = allocate<cl_int>(count + 1);
      const std::vector<cl_int> source = numbers(count, blocking == CL_TRUE ? 1 : 5);
      std::vector<cl_int> on_host(count);
      std::vector<cl_int> target(count);
      EXPECT_CL(copy(on_host.data(), source.data(), count * 4, blocking));
      EXPECT_CL(copy(a.get() + 1, on_host.data(), count * 4, blocking));
      EXPECT_CL(copy(b.get(), a.get() + 1, count * 4, blocking));
      EXPECT_CL(copy(target.data(), b.get(), count * 4, blocking));
      EXPECT_CL(clFinish(queue));
      EXPECT_TRUE(target == source) << count;
    }
}

TEST_F(clEnqueueSVMMemcpy, GivenOutOfOrderQueueThenHostCopyFollowsItsWaitList) {
  const Queue other = make_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, device);
  const std::vector<cl_int> source = numbers(1000);
  std::vector<cl_int> target(1000);
  Gate gate(context);
  Event event;
  ASSERT_CL(
      ::clEnqueueSVMMemcpy(other, CL_FALSE, target.data(), source.data(), 4000, 1, gate.ptr(), event.out()));
  EXPECT_CL(clFlush(other));
  EXPECT_GT(status_of(event), CL_COMPLETE);
  EXPECT_EQ(std::vector<cl_int>(1000), target);
  gate.open();
  EXPECT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(source, target);
}

TEST_F(clEnqueueSVMMemcpy, GivenContentOnAnotherDeviceThenItIsFetched) {
  const auto a = allocate<cl_int>(1000);
  const auto b = allocate<cl_int>(1000);
  for (const cl_device_id each : with_svm) {
    const Queue on = make_queue(0, each);
    const cl_int seven = 7;
    Event filled;
    ASSERT_CL(clEnqueueSVMMemFill(on, a.get(), &seven, 4, 4000, 0, nullptr, filled.out()));
    EXPECT_CL(::clEnqueueSVMMemcpy(queue, CL_FALSE, b.get(), a.get(), 4000, 1, filled.ptr(), nullptr));
    EXPECT_EQ(std::vector<cl_int>(1000, 7), read_svm(b.get(), 1000));
  }
}

TEST_F(clEnqueueSVMMemcpy, GivenOverlapThenMemCopyOverlap) {
  const auto data = allocate<char>(64);
  char host[64] = {};
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(data.get() + 1, data.get(), 2));
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(data.get(), data.get() + 31, 32));
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(data.get(), data.get(), 64));
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(host, host + 1, 2));
  EXPECT_CL(copy(data.get() + 32, data.get(), 32));
  EXPECT_CL(copy(data.get(), data.get() + 32, 32));
}

TEST_F(clEnqueueSVMMemcpy, GivenNoBytesThenNothingHappens) {
  const auto data = allocate<char>(64);
  char host = 'x';
  EXPECT_CL(copy(&host, data.get(), 0));
  EXPECT_CL(copy(data.get(), data.get(), 0));
  EXPECT_EQ('x', host);
}

TEST_F(clEnqueueSVMMemcpy, GivenNullOrRangeOutsideThenInvalidValue) {
  const auto data = allocate<char>(64);
  char host[128] = {};
  EXPECT_EQ(CL_INVALID_VALUE, copy(nullptr, data.get(), 4));
  EXPECT_EQ(CL_INVALID_VALUE, copy(data.get(), nullptr, 4));
  EXPECT_EQ(CL_INVALID_VALUE, copy(host, data.get(), 65));
  EXPECT_EQ(CL_INVALID_VALUE, copy(data.get() + 1, host, 64));
}

TEST_F(clEnqueueSVMMemcpy, GivenAnyEnqueueThenCommonRulesHold) {
  const auto data = allocate<char>(64);
  char host[64] = {};
  const auto copy = [&](void* to, const void* from, cl_bool blocking) {
    return [=](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
      return ::clEnqueueSVMMemcpy(on, blocking, to, from, 64, count, list, event);
    };
  };
  // In another context the allocation is ordinary host memory.
  expect_enqueue_rules(context, device, CL_COMMAND_SVM_MEMCPY, copy(data.get(), host, CL_FALSE), CL_SUCCESS);
  char other[64] = {};
  for (void* to : {static_cast<void*>(data.get()), static_cast<void*>(other)}) {
    expect_failed_event_ends_command(context, device, copy(to, host, CL_FALSE));
    expect_blocking_reports_failed_event(context, device, copy(to, host, CL_TRUE));
  }
}

}  // namespace clique::test::suite_clEnqueueSVMMemcpy
