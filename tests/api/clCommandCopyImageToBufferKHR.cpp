// clCommandCopyImageToBufferKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"

namespace clique::test::suite_clCommandCopyImageToBufferKHR {

class clCommandCopyImageToBufferKHR : public CommandBufferImageTest {
 protected:
  const ImageShape shape = {"2D", CL_MEM_OBJECT_IMAGE2D, {9, 7, 1}};
  const ImagePart part = part_of(shape);
};

TEST_F(clCommandCopyImageToBufferKHR, GivenPartThenItIsCopied) {
  in_both_forms([&] {
    const Bytes content = numbered_bytes(bytes_of(shape.size));
    const Mem source = image(shape, &content);
    const size_t size = bytes_of(part.region);
    const Mem target = buffer<unsigned char>(size + 4);
    const CommandBuffer made = record_on(queue);
    ASSERT_CL(call.copy_image_to_buffer(made, nullptr, source, target, part.origin.data(), part.region.data(),
                                        4, 0, nullptr, nullptr, nullptr));
    run(made);
    Bytes expected(size);
    copy_rect(content, pixels_at(part.origin, shape.size), expected, {}, in_bytes(part.region));
    const Bytes result = read<unsigned char>(target, size + 4);
    EXPECT_EQ(expected, Bytes(result.begin() + 4, result.end()));
  });
}

TEST_F(clCommandCopyImageToBufferKHR, GivenCallThenRulesOfEveryRecordingHold) {
  in_both_forms([&] {
    const Mem source = image(shape);
    const Mem target = buffer<unsigned char>(bytes_of(shape.size));
    expect_recording_rules([&](auto recording, auto on, auto... rest) {
      return call.copy_image_to_buffer(recording, on, source, target, part.origin.data(), part.region.data(),
                                       0, rest...);
    });
    const CommandBuffer made = record_on(queue);
    EXPECT_EQ(CL_INVALID_MEM_OBJECT,
              call.copy_image_to_buffer(made, nullptr, target, target, part.origin.data(), part.region.data(),
                                        0, 0, nullptr, nullptr, nullptr));
  });
}

TEST_F(clCommandCopyImageToBufferKHR, GivenPropertiesOrHandleThenInvalidValue) {
  const Mem source = image(shape);
  const Mem target = buffer<unsigned char>(bytes_of(shape.size));
  expect_no_properties([&](auto recording, auto on, auto properties, auto... rest) {
    return call.copy_image_to_buffer.newer(recording, on, properties, source, target, part.origin.data(),
                                           part.region.data(), 0, rest...);
  });
}

}  // namespace clique::test::suite_clCommandCopyImageToBufferKHR
