// clEnqueueSVMUnmap: OpenCL 3.0, section 5.6.2.
#include "svm.hpp"

namespace clique::test::suite_clEnqueueSVMUnmap {

class clEnqueueSVMUnmap : public SvmTest {};

TEST_F(clEnqueueSVMUnmap, GivenHostHasWrittenThenKernelsOfAllDevicesSeeIt) {
  const auto data = allocate<cl_int>(100);
  const auto out = allocate<cl_int>(100);
  const Program program = build(
      "kernel void k(global const int* data, global int* out) {"
      "  out[get_global_id(0)] = data[get_global_id(0)] * 2;"
      "}");
  const Kernel k = kernel(program, "k");
  EXPECT_CL(clSetKernelArgSVMPointer(k, 0, data.get()));
  EXPECT_CL(clSetKernelArgSVMPointer(k, 1, out.get()));
  for (const cl_device_id each : with_svm) {
    const Queue on = make_queue(0, each);
    ASSERT_CL(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_WRITE, data.get(), 400, 0, nullptr, nullptr));
    std::iota(data.get(), data.get() + 100, 1);
    Event event;
    ASSERT_CL(::clEnqueueSVMUnmap(queue, data.get(), 0, nullptr, event.out()));
    EXPECT_CL(launch(on, k, 100, {event}));
    const auto doubled = read_svm(out.get(), 100, on);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(2 * (i + 1), doubled[i]);
  }
}

TEST_F(clEnqueueSVMUnmap, GivenMappedTwiceForReadingThenUnmappedTwice) {
  const auto data = allocate<char>(64);
  for (int i = 0; i < 2; ++i)
    ASSERT_CL(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, data.get(), 64, 0, nullptr, nullptr));
  EXPECT_CL(::clEnqueueSVMUnmap(queue, data.get(), 0, nullptr, nullptr));
  EXPECT_CL(::clEnqueueSVMUnmap(queue, data.get(), 0, nullptr, nullptr));
}

TEST_F(clEnqueueSVMUnmap, GivenNothingMappedThereThenInvalidValue) {
  const auto data = allocate<char>(64);
  char other = 0;
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueSVMUnmap(queue, data.get(), 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueSVMUnmap(queue, nullptr, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueSVMUnmap(queue, &other, 0, nullptr, nullptr));
  ASSERT_CL(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, data.get(), 64, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueSVMUnmap(queue, data.get() + 1, 0, nullptr, nullptr));
  EXPECT_CL(::clEnqueueSVMUnmap(queue, data.get(), 0, nullptr, nullptr));
}

TEST_F(clEnqueueSVMUnmap, GivenAnyEnqueueThenCommonRulesHold) {
  const auto data = allocate<char>(64);
  for (int i = 0; i < 10; ++i)
    ASSERT_CL(clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, data.get(), 64, 0, nullptr, nullptr));
  const auto unmap = [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    return ::clEnqueueSVMUnmap(on, data.get(), count, list, event);
  };
  expect_enqueue_rules(context, device, CL_COMMAND_SVM_UNMAP, unmap, CL_INVALID_VALUE);
  expect_failed_event_ends_command(context, device, unmap);
}

}  // namespace clique::test::suite_clEnqueueSVMUnmap
