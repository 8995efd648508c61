// printf in kernels: OpenCL C 3.0, section 6.15.14; when it is flushed: OpenCL 3.0, section 5.15.
#include <cstdio>
#include <sstream>

#include "capture.hpp"
#include "helpers.hpp"

namespace clique::test::suite_printf {

class Printf : public ApiTest {
 protected:
  static std::vector<std::string> sorted_lines(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  /// Returns what the kernel, run as `global` work-items, prints until clFinish returns.
  std::string output_of(cl_kernel k, size_t global = 1) {
    const Capture capture;
    EXPECT_CL(launch(queue, k, global));
    EXPECT_CL(clFinish(queue));
    return capture.text();
  }
  /// The same for kernel k of `source`, run as one work-item.
  std::string output_of(const char* source) {
    const Program program = build(source);
    return output_of(kernel(program, "k"));
  }
};

TEST_F(Printf, GivenOneWorkItemThenTextArrivesBeforeFinishReturns) {
  EXPECT_EQ("hello from a kernel\n", output_of(R"(kernel void k() { printf("hello from a kernel\n"); })"));
}

TEST_F(Printf, GivenConversionsThenTheyAreThoseOfC) {
  const std::string output = output_of(R"(kernel void k() {
    printf("%d|%5d|%-5d|%05d|%+d|%i\n", -7, 42, 42, 42, 42, 1);
    printf("%u|%x|%X|%o|%#x\n", 4000000000u, 255, 255, 8, 255);
    printf("%f|%.2f|%8.3f|%e|%g\n", 1.5f, 2.25f, -3.125f, 1000.0f, 0.5f);
    printf("%c|%s|%%\n", 'x', "string");
    printf("%ld|%lx\n", 5000000000L, 0x123456789AL);
  })");
  char expected[512];
  std::snprintf(expected, sizeof expected,
                "%d|%5d|%-5d|%05d|%+d|%i\n%u|%x|%X|%o|%#x\n%f|%.2f|%8.3f|%e|%g\n%c|%s|%%\n%ld|%lx\n", -7, 42,
                42, 42, 42, 1, 4000000000U, 255, 255, 8, 255, 1.5, 2.25, -3.125, 1000.0, 0.5, 'x', "string",
                5000000000L, 0x123456789AL);
  EXPECT_EQ(expected, output);
}

TEST_F(Printf, GivenVectorsThenElementsAreSeparatedByCommas) {
  EXPECT_EQ("1,2,3,4 0.50,1.50\n", output_of(R"(kernel void k() {
    printf("%v4hld %.2v2hlf\n", (int4)(1, 2, 3, 4), (float2)(0.5f, 1.5f));
  })"));
}

TEST_F(Printf, GivenManyWorkItemsThenEveryLineArrivesOnce) {
  const Program program = build(R"(kernel void k(int base) {
    printf("item %d\n", base + (int)get_global_id(0));
  })");
  const Kernel k = kernel(program, "k");
  set_args(k, 1000);
  const std::string text = output_of(k, 256);
  std::vector<std::string> expected;
  for (int i = 1000; i < 1256; ++i) expected.push_back("item " + std::to_string(i));
  EXPECT_EQ(expected, sorted_lines(text));
}

TEST_F(Printf, GivenBlockingReadAfterAKernelThenItsTextHasArrived) {
  const Program program =
      build(R"(kernel void k(global int* out) { *out = 7; printf("before the read\n"); })");
  const Kernel k = kernel(program, "k");
  const Mem mem = buffer<cl_int>(1);
  set_args(k, mem.get());
  cl_int value = 0;
  const Capture capture;
  ASSERT_CL(launch(queue, k, 1));
  ASSERT_CL(clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr));
  EXPECT_EQ(7, value);
  EXPECT_EQ("before the read\n", capture.text());
}

TEST_F(Printf, GivenSeveralKernelsThenTheirTextArrivesInOrder) {
  const Program program = build(R"(
    kernel void first(int n) { printf("first %d\n", n); }
    kernel void second(int n) { printf("second %d\n", n); }
  )");
  const Kernel first = kernel(program, "first");
  const Kernel second = kernel(program, "second");
  std::string expected;
  std::string text;
  {
    const Capture capture;
    for (int i = 0; i < 10; ++i) {
      set_args(first, i);
      set_args(second, i);
      ASSERT_CL(launch(queue, first, 1));
      ASSERT_CL(launch(queue, second, 1));
      expected += "first " + std::to_string(i) + "\nsecond " + std::to_string(i) + "\n";
    }
    ASSERT_CL(clFinish(queue));
    text = capture.text();
  }
  EXPECT_EQ(expected, text);
}

TEST_F(Printf, GivenEventWhenItIsWaitedForThenTextHasArrived) {
  const Program program = build(R"(kernel void k() { printf("before the event\n"); })");
  const Kernel k = kernel(program, "k");
  std::string text;
  {
    const Capture capture;
    Event event;
    ASSERT_CL(launch(queue, k, 1, {}, event.out()));
    ASSERT_CL(clWaitForEvents(1, event.ptr()));
    text = capture.text();
  }
  EXPECT_EQ("before the event\n", text);
}

TEST_F(Printf, GivenKernelsOnAllDevicesInAChainThenTextArrivesInItsOrder) {
  const Program program = build(R"(kernel void k(int n) { printf("device %d\n", n); })");
  const Kernel k = kernel(program, "k");
  std::vector<Queue> queues;
  for (cl_device_id one : devices()) queues.push_back(make_queue(0, one));
  std::string expected;
  std::string text;
  {
    const Capture capture;
    Event last;
    for (int i = 0; i < static_cast<int>(devices().size()) * 2; ++i) {
      const Queue& on = queues[i % queues.size()];
      set_args(k, i);
      Event next;
      ASSERT_CL(
          launch(on, k, 1, last.get() ? std::vector<cl_event>{last} : std::vector<cl_event>{}, next.out()));
      ASSERT_CL(clFlush(on));
      last = std::move(next);
      expected += "device " + std::to_string(i) + "\n";
    }
    for (const Queue& on : queues) ASSERT_CL(clFinish(on));
    text = capture.text();
  }
  EXPECT_EQ(expected, text);
}

TEST_F(Printf, GivenMuchTextThenAllOfItArrives) {
  const Program program = build(R"(kernel void k() {
    for (int i = 0; i < 2000; ++i) printf("line %d of a text that is longer than one message\n", i);
  })");
  const Kernel k = kernel(program, "k");
  std::string expected;
  for (int i = 0; i < 2000; ++i)
    expected += "line " + std::to_string(i) + " of a text that is longer than one message\n";
  if (info<size_t>(clGetDeviceInfo, device, CL_DEVICE_PRINTF_BUFFER_SIZE) < 4 * expected.size())
    GTEST_SKIP() << "the device's printf buffer is smaller than this";
  EXPECT_EQ(expected, output_of(k));
}

TEST_F(Printf, GivenKernelWithoutPrintfThenNothingIsWritten) {
  const Program program = build("kernel void k(global int* out) { *out = 1; }");
  const Kernel k = kernel(program, "k");
  const Mem out = buffer<int>(1);
  set_args(k, out);
  EXPECT_EQ("", output_of(k));
}

}  // namespace clique::test::suite_printf
