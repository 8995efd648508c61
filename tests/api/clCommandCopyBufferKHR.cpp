// clCommandCopyBufferKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"

namespace clique::test::suite_clCommandCopyBufferKHR {

class clCommandCopyBufferKHR : public CommandBufferTest {
 protected:
  const Bytes content = numbered_bytes(64);
};

TEST_F(clCommandCopyBufferKHR, GivenRangeThenItIsCopied) {
  in_both_forms([&] {
    const Mem from = buffer<unsigned char>(64, content.data());
    const Mem to = buffer<unsigned char>(64, content.data());
    const CommandBuffer made = record_on(queue);
    ASSERT_CL(call.copy_buffer(made, nullptr, from, to, 3, 10, 20, 0, nullptr, nullptr, nullptr));
    run(made);
    Bytes expected = content;
    std::copy_n(content.begin() + 3, 20, expected.begin() + 10);
    EXPECT_EQ(expected, read<unsigned char>(to, 64));
  });
}

TEST_F(clCommandCopyBufferKHR, GivenWrongArgumentsThenErrorsOfTheEnqueue) {
  in_both_forms([&] {
    const Mem mem = buffer<unsigned char>(64);
    const OtherContext other;
    const CommandBuffer made = record_on(queue);
    const auto copy = [&](cl_mem from, cl_mem to, size_t source, size_t destination, size_t size) {
      return call.copy_buffer(made, nullptr, from, to, source, destination, size, 0, nullptr, nullptr,
                              nullptr);
    };
    EXPECT_EQ(CL_INVALID_VALUE, copy(mem, mem, 60, 0, 5));
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, copy(nullptr, mem, 0, 0, 1));
    EXPECT_EQ(CL_INVALID_CONTEXT, copy(mem, other.buffer, 0, 0, 1));
    EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(mem, mem, 0, 1, 2));
  });
}

TEST_F(clCommandCopyBufferKHR, GivenCallThenRulesOfEveryRecordingHold) {
  in_both_forms([&] {
    const Mem from = buffer<unsigned char>(64);
    const Mem to = buffer<unsigned char>(64);
    expect_recording_rules([&](auto recording, auto on, auto... rest) {
      return call.copy_buffer(recording, on, from, to, 0, 0, 64, rest...);
    });
  });
}

TEST_F(clCommandCopyBufferKHR, GivenPropertiesOrHandleThenInvalidValue) {
  const Mem from = buffer<unsigned char>(64);
  const Mem to = buffer<unsigned char>(64);
  expect_no_properties([&](auto recording, auto on, auto properties, auto... rest) {
    return call.copy_buffer.newer(recording, on, properties, from, to, 0, 0, 64, rest...);
  });
}

}  // namespace clique::test::suite_clCommandCopyBufferKHR
