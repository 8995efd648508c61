// clCommandFillBufferKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"

namespace clique::test::suite_clCommandFillBufferKHR {

class clCommandFillBufferKHR : public CommandBufferTest {};

TEST_F(clCommandFillBufferKHR, GivenPatternThenItIsThatOfTheCall) {
  in_both_forms([&] {
    const std::vector<cl_uint> zeros(16, 0);
    const Mem target = buffer<cl_uint>(16, zeros.data());
    cl_uint pattern = 3;
    const CommandBuffer made = record_on(queue);
    ASSERT_CL(call.fill_buffer(made, nullptr, target, &pattern, sizeof pattern, 4, 8, 0, nullptr, nullptr,
                               nullptr));
    pattern = 4;
    run(made);
    std::vector<cl_uint> expected = zeros;
    expected[1] = expected[2] = 3;
    EXPECT_EQ(expected, read<cl_uint>(target, 16));
  });
}

TEST_F(clCommandFillBufferKHR, GivenWrongArgumentsThenErrorsOfTheEnqueue) {
  in_both_forms([&] {
    const Mem target = buffer<cl_uint>(16);
    const cl_uint pattern = 3;
    const CommandBuffer made = record_on(queue);
    const auto fill = [&](cl_mem to, const void* with, size_t with_size, size_t offset, size_t size) {
      return call.fill_buffer(made, nullptr, to, with, with_size, offset, size, 0, nullptr, nullptr, nullptr);
    };
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, fill(nullptr, &pattern, 4, 0, 4));
    EXPECT_EQ(CL_INVALID_VALUE, fill(target, nullptr, 4, 0, 4));
    EXPECT_EQ(CL_INVALID_VALUE, fill(target, &pattern, 3, 0, 3));
    EXPECT_EQ(CL_INVALID_VALUE, fill(target, &pattern, 4, 2, 4));
    EXPECT_EQ(CL_INVALID_VALUE, fill(target, &pattern, 4, 64, 4));
  });
}

TEST_F(clCommandFillBufferKHR, GivenNoBytesThenNothingIsFilled) {
  in_both_forms([&] {
    const std::vector<cl_uint> zeros(16, 0);
    const Mem target = buffer<cl_uint>(16, zeros.data());
    const cl_uint pattern = 3;
    const CommandBuffer made = record_on(queue);
    ASSERT_CL(call.fill_buffer(made, nullptr, target, &pattern, sizeof pattern, 0, 0, 0, nullptr, nullptr,
                               nullptr));
    run(made);
    EXPECT_EQ(zeros, read<cl_uint>(target, 16));
  });
}

TEST_F(clCommandFillBufferKHR, GivenCallThenRulesOfEveryRecordingHold) {
  in_both_forms([&] {
    const Mem target = buffer<cl_uint>(16);
    const cl_uint pattern = 3;
    expect_recording_rules([&](auto recording, auto on, auto... rest) {
      return call.fill_buffer(recording, on, target, &pattern, sizeof pattern, 0, 64, rest...);
    });
  });
}

TEST_F(clCommandFillBufferKHR, GivenPropertiesOrHandleThenInvalidValue) {
  const Mem target = buffer<cl_uint>(16);
  const cl_uint pattern = 3;
  expect_no_properties([&](auto recording, auto on, auto properties, auto... rest) {
    return call.fill_buffer.newer(recording, on, properties, target, &pattern, sizeof pattern, 0, 64,
                                  rest...);
  });
}

}  // namespace clique::test::suite_clCommandFillBufferKHR
