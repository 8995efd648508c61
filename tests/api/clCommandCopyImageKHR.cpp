// clCommandCopyImageKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"

namespace clique::test::suite_clCommandCopyImageKHR {

class clCommandCopyImageKHR : public CommandBufferImageTest {
 protected:
  const ImageShape shape = {"2D", CL_MEM_OBJECT_IMAGE2D, {9, 7, 1}};
  const ImagePart part = part_of(shape);
  const Size3 begin = {0, 0, 0};
};

TEST_F(clCommandCopyImageKHR, GivenPartThenItIsCopied) {
  in_both_forms([&] {
    const Bytes content = numbered_bytes(bytes_of(shape.size));
    Bytes expected(bytes_of(shape.size), 0xA5);
    const Mem source = image(shape, &content);
    const Mem target = image(shape, &expected);
    const CommandBuffer made = record_on(queue);
    ASSERT_CL(call.copy_image(made, nullptr, source, target, part.origin.data(), begin.data(),
                              part.region.data(), 0, nullptr, nullptr, nullptr));
    run(made);
    copy_rect(content, pixels_at(part.origin, shape.size), expected, pixels_at(begin, shape.size),
              in_bytes(part.region));
    EXPECT_EQ(expected, read_image(target, shape.size));
  });
}

TEST_F(clCommandCopyImageKHR, GivenCallThenRulesOfEveryRecordingHold) {
  in_both_forms([&] {
    const Mem source = image(shape);
    const Mem target = image(shape);
    expect_recording_rules([&](auto recording, auto on, auto... rest) {
      return call.copy_image(recording, on, source, target, begin.data(), begin.data(), shape.size.data(),
                             rest...);
    });
    const CommandBuffer made = record_on(queue);
    EXPECT_EQ(CL_MEM_COPY_OVERLAP, call.copy_image(made, nullptr, source, source, begin.data(), begin.data(),
                                                   shape.size.data(), 0, nullptr, nullptr, nullptr));
  });
}

TEST_F(clCommandCopyImageKHR, GivenPropertiesOrHandleThenInvalidValue) {
  const Mem source = image(shape);
  const Mem target = image(shape);
  expect_no_properties([&](auto recording, auto on, auto properties, auto... rest) {
    return call.copy_image.newer(recording, on, properties, source, target, begin.data(), begin.data(),
                                 shape.size.data(), rest...);
  });
}

}  // namespace clique::test::suite_clCommandCopyImageKHR
