// clEnqueueFillBuffer: OpenCL 3.0, section 5.2.4.
#include <algorithm>
#include <cstdint>

#include "rects.hpp"

namespace clique::test::suite_clEnqueueFillBuffer {

class clEnqueueFillBuffer : public ApiTest {
 protected:
  static constexpr size_t kSize = 1024;

  void SetUp() override {
    ApiTest::SetUp();
    before = Bytes(kSize, 0xA5);
    mem = buffer(kSize, before.data());
  }
  cl_int fill(cl_mem to, const void* pattern, size_t pattern_size, size_t offset, size_t size) {
    return ::clEnqueueFillBuffer(queue, to, pattern, pattern_size, offset, size, 0, nullptr, nullptr);
  }
  Bytes before;
  Mem mem;
};

TEST_F(clEnqueueFillBuffer, GivenEachPatternSizeThenThePatternRepeats) {
  for (size_t pattern_size = 1; pattern_size <= 128; pattern_size *= 2) {
    const Bytes pattern = numbered_bytes(pattern_size, static_cast<unsigned>(pattern_size));
    const size_t offset = pattern_size;
    const size_t size = 3 * pattern_size;
    mem = buffer(kSize, before.data());
    ASSERT_CL(fill(mem, pattern.data(), pattern_size, offset, size)) << pattern_size;
    Bytes expected = before;
    for (size_t i = 0; i < size; ++i) expected[offset + i] = pattern[i % pattern_size];
    EXPECT_EQ(expected, read<unsigned char>(mem, kSize)) << pattern_size;
  }
}

TEST_F(clEnqueueFillBuffer, GivenWholeBufferThenAllOfItIsFilled) {
  const cl_float pattern = 1.5F;
  ASSERT_CL(fill(mem, &pattern, sizeof pattern, 0, kSize));
  EXPECT_EQ(std::vector<cl_float>(kSize / sizeof pattern, pattern),
            read<cl_float>(mem, kSize / sizeof pattern));
}

TEST_F(clEnqueueFillBuffer, GivenPatternThenItMayBeReusedAtOnce) {
  cl_int pattern = 77;
  const Event gate = user_event();
  ASSERT_CL(::clEnqueueFillBuffer(queue, mem, &pattern, sizeof pattern, 0, kSize, 1, gate.ptr(), nullptr));
  pattern = -1;
  ASSERT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  EXPECT_EQ(std::vector<cl_int>(kSize / sizeof(cl_int), 77), read<cl_int>(mem, kSize / sizeof(cl_int)));
}

TEST_F(clEnqueueFillBuffer, GivenSubBufferThenTheRestOfTheParentStays) {
  const auto align = info<cl_uint>(clGetDeviceInfo, device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  const Mem whole = buffer(kSize, before.data());
  const cl_buffer_region region = {align, align};
  cl_int err = CL_SUCCESS;
  const Mem sub(clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const unsigned char pattern = 0x11;
  ASSERT_CL(fill(sub, &pattern, 1, 0, align));
  Bytes expected = before;
  std::fill(expected.begin() + align, expected.begin() + 2 * align, pattern);
  EXPECT_EQ(expected, read<unsigned char>(whole, kSize));
}

TEST_F(clEnqueueFillBuffer, GivenPartsFilledByAllDevicesThenTheyAllCount) {
  Bytes expected = before;
  for (size_t i = 0; i < 16; ++i) {
    queue = make_queue(0, devices()[i % devices().size()]);
    const auto pattern = static_cast<unsigned char>(i);
    ASSERT_CL(fill(mem, &pattern, 1, i * 64, 60));
    ASSERT_CL(clFinish(queue));
    std::fill(expected.begin() + i * 64, expected.begin() + i * 64 + 60, pattern);
  }
  EXPECT_EQ(expected, read<unsigned char>(mem, kSize));
}

TEST_F(clEnqueueFillBuffer, GivenBadPatternThenInvalidValue) {
  const Bytes pattern(512, 1);
  EXPECT_EQ(CL_INVALID_VALUE, fill(mem, nullptr, 4, 0, 16));
  EXPECT_EQ(CL_INVALID_VALUE, fill(mem, pattern.data(), 0, 0, 16));
  for (const size_t size : {size_t{3}, size_t{6}, size_t{12}, size_t{127}, size_t{256}, SIZE_MAX}) {
    EXPECT_EQ(CL_INVALID_VALUE, fill(mem, pattern.data(), size, 0, kSize)) << size;
  }
}

TEST_F(clEnqueueFillBuffer, GivenOffsetOrSizeThatIsNoMultipleThenInvalidValue) {
  const cl_long pattern = 5;
  EXPECT_EQ(CL_INVALID_VALUE, fill(mem, &pattern, sizeof pattern, 4, 16));
  EXPECT_EQ(CL_INVALID_VALUE, fill(mem, &pattern, sizeof pattern, 8, 12));
  EXPECT_EQ(before, read<unsigned char>(mem, kSize));
}

TEST_F(clEnqueueFillBuffer, GivenRegionOutsideTheBufferThenInvalidValue) {
  const unsigned char pattern = 1;
  EXPECT_EQ(CL_INVALID_VALUE, fill(mem, &pattern, 1, 0, kSize + 1));
  EXPECT_EQ(CL_INVALID_VALUE, fill(mem, &pattern, 1, kSize, 1));
  EXPECT_EQ(CL_INVALID_VALUE, fill(mem, &pattern, 1, 1, SIZE_MAX)) << "offset + size wraps around";
  EXPECT_EQ(CL_INVALID_VALUE, fill(mem, &pattern, 1, SIZE_MAX - 3, 8)) << "offset + size wraps around";
  EXPECT_EQ(before, read<unsigned char>(mem, kSize));
}

TEST_F(clEnqueueFillBuffer, GivenObjectThatIsNoBufferThenInvalidMemObject) {
  const unsigned char pattern = 1;
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, fill(nullptr, &pattern, 1, 0, 1));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, fill(foreign_handle<cl_mem>(), &pattern, 1, 0, 1));
}

TEST_F(clEnqueueFillBuffer, GivenCallThenRulesOfEveryEnqueueHold) {
  const unsigned char pattern = 1;
  const auto enqueue = [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
    return ::clEnqueueFillBuffer(on, mem, &pattern, 1, 0, kSize, count, list, event);
  };
  expect_enqueue_rules(context, device, CL_COMMAND_FILL_BUFFER, enqueue);
  EXPECT_EQ(Bytes(kSize, 1), read<unsigned char>(mem, kSize));
}

TEST_F(clEnqueueFillBuffer, GivenFailedEventInWaitListThenNothingIsFilled) {
  const unsigned char pattern = 1;
  expect_failed_event_ends_command(
      context, device, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
        return ::clEnqueueFillBuffer(on, mem, &pattern, 1, 0, kSize, count, list, event);
      });
  EXPECT_EQ(before, read<unsigned char>(mem, kSize));
}

}  // namespace clique::test::suite_clEnqueueFillBuffer
