// clCommandCopyBufferRectKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"

namespace clique::test::suite_clCommandCopyBufferRectKHR {

class clCommandCopyBufferRectKHR : public CommandBufferTest {
 protected:
  const Size3 region = {5, 3, 2};
  const Rect from = {{1, 1, 0}, 8, 40};
  const Rect to = {{2, 0, 1}, 10, 50};
  const Bytes content = numbered_bytes(200);
  cl_int copy(cl_command_buffer_khr recording, cl_mem source, cl_mem destination, const size_t* of) {
    return call.copy_buffer_rect(recording, nullptr, source, destination, from.origin.data(),
                                 to.origin.data(), of, from.row_pitch, from.slice_pitch, to.row_pitch,
                                 to.slice_pitch, 0, nullptr, nullptr, nullptr);
  }
};

TEST_F(clCommandCopyBufferRectKHR, GivenRectThenItIsCopied) {
  in_both_forms([&] {
    const Mem source = buffer<unsigned char>(200, content.data());
    const Bytes before(200, 0xA5);
    const Mem destination = buffer<unsigned char>(200, before.data());
    const CommandBuffer made = record_on(queue);
    ASSERT_CL(copy(made, source, destination, region.data()));
    run(made);
    Bytes expected = before;
    copy_rect(content, from, expected, to, region);
    EXPECT_EQ(expected, read<unsigned char>(destination, 200));
  });
}

TEST_F(clCommandCopyBufferRectKHR, GivenWrongArgumentsThenErrorsOfTheEnqueue) {
  in_both_forms([&] {
    const Mem mem = buffer<unsigned char>(200);
    const Mem other = buffer<unsigned char>(200);
    const CommandBuffer made = record_on(queue);
    const Size3 empty = {5, 0, 2};
    EXPECT_EQ(CL_INVALID_VALUE, copy(made, mem, other, nullptr));
    EXPECT_EQ(CL_INVALID_VALUE, copy(made, mem, other, empty.data()));
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, copy(made, mem, nullptr, region.data()));
  });
}

TEST_F(clCommandCopyBufferRectKHR, GivenCallThenRulesOfEveryRecordingHold) {
  in_both_forms([&] {
    const Mem source = buffer<unsigned char>(200);
    const Mem destination = buffer<unsigned char>(200);
    expect_recording_rules([&](auto recording, auto on, auto... rest) {
      return call.copy_buffer_rect(recording, on, source, destination, from.origin.data(), to.origin.data(),
                                   region.data(), from.row_pitch, from.slice_pitch, to.row_pitch,
                                   to.slice_pitch, rest...);
    });
  });
}

TEST_F(clCommandCopyBufferRectKHR, GivenPropertiesOrHandleThenInvalidValue) {
  const Mem source = buffer<unsigned char>(200);
  const Mem destination = buffer<unsigned char>(200);
  expect_no_properties([&](auto recording, auto on, auto properties, auto... rest) {
    return call.copy_buffer_rect.newer(recording, on, properties, source, destination, from.origin.data(),
                                       to.origin.data(), region.data(), from.row_pitch, from.slice_pitch,
                                       to.row_pitch, to.slice_pitch, rest...);
  });
}

}  // namespace clique::test::suite_clCommandCopyBufferRectKHR
