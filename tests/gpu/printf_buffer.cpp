// printf from many work-items at once, and with more text than the device's buffer holds.
#include <set>
#include <sstream>

#include "api/capture.hpp"
#include "gpu.hpp"

namespace clique::test {

class PrintfBuffer : public GpuTest {
 protected:
  std::string output_of(cl_kernel k, size_t items) {
    const Capture capture;
    EXPECT_CL(launch(k, items));
    EXPECT_CL(clFinish(queue));
    return capture.text();
  }
  static std::multiset<std::string> lines(const std::string& text) {
    std::multiset<std::string> all;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) all.insert(line);
    return all;
  }
};

TEST_F(PrintfBuffer, GivenManyWorkItemsThenEveryLineArrivesWholeAndOnce) {
  const Program program = build(R"(kernel void k() {
    const int i = get_global_id(0);
    printf("item %d, %s, %.1f, %v2hld\n", i, i % 2 ? "odd" : "even", 0.5f * i, (int2)(i, -i));
  })");
  constexpr int kItems = 5000;
  const std::string text = output_of(kernel(program, "k"), kItems);
  std::multiset<std::string> expected;
  for (int i = 0; i < kItems; ++i) {
    char line[100];
    std::snprintf(line, sizeof line, "item %d, %s, %.1f, %d,%d", i, i % 2 != 0 ? "odd" : "even", 0.5 * i, i,
                  -i);
    expected.insert(line);
  }
  EXPECT_EQ(expected, lines(text));
}

TEST_F(PrintfBuffer, GivenMoreThanTheBufferHoldsThenLinesOfItAndTheNextKernelPrintsAgain) {
  const Program program = build(R"(
    kernel void much(uint times) {
      for (uint i = 0; i < times; ++i) printf("0123456789 0123456789 0123456789 %u\n", i);
    }
    kernel void little() { printf("again\n"); })");
  const auto size = info<size_t>(clGetDeviceInfo, device, CL_DEVICE_PRINTF_BUFFER_SIZE);
  // Every record has at least one word, so all records together exceed the buffer.
  constexpr size_t kItems = 4096;
  const auto times = static_cast<cl_uint>(size / 4 / kItems + 2);
  if (times > 2000) GTEST_SKIP() << "the buffer is too large to fill it: " << size;
  const Kernel much = kernel(program, "much");
  set_args(much, times);
  const std::string text = output_of(much, kItems);
  EXPECT_FALSE(text.empty());
  // Drivers cut lines off at the end of the buffer; some have one buffer for each thread.
  const auto all = lines(text);
  const auto whole = [](const std::string& line) {
    return line.starts_with("0123456789 0123456789 0123456789 ");
  };
  const auto cut = static_cast<long>(all.size()) - std::count_if(all.begin(), all.end(), whole);
  EXPECT_LE(cut, 16);
  EXPECT_EQ("again\n", output_of(kernel(program, "little"), 1));
}

}  // namespace clique::test
