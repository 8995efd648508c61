// clCommandCopyBufferToImageKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"

namespace clique::test::suite_clCommandCopyBufferToImageKHR {

class clCommandCopyBufferToImageKHR : public CommandBufferImageTest {
 protected:
  const ImageShape shape = {"2D", CL_MEM_OBJECT_IMAGE2D, {9, 7, 1}};
  const ImagePart part = part_of(shape);
};

TEST_F(clCommandCopyBufferToImageKHR, GivenPartThenItIsCopied) {
  in_both_forms([&] {
    Bytes expected(bytes_of(shape.size), 0xA5);
    const Mem target = image(shape, &expected);
    const Bytes pixels = numbered_bytes(bytes_of(part.region) + 4);
    const Mem source = buffer<unsigned char>(pixels.size(), pixels.data());
    const CommandBuffer made = record_on(queue);
    ASSERT_CL(call.copy_buffer_to_image(made, nullptr, source, target, 4, part.origin.data(),
                                        part.region.data(), 0, nullptr, nullptr, nullptr));
    run(made);
    copy_rect(Bytes(pixels.begin() + 4, pixels.end()), {}, expected, pixels_at(part.origin, shape.size),
              in_bytes(part.region));
    EXPECT_EQ(expected, read_image(target, shape.size));
  });
}

TEST_F(clCommandCopyBufferToImageKHR, GivenCallThenRulesOfEveryRecordingHold) {
  in_both_forms([&] {
    const Mem target = image(shape);
    const Mem source = buffer<unsigned char>(bytes_of(shape.size));
    expect_recording_rules([&](auto recording, auto on, auto... rest) {
      return call.copy_buffer_to_image(recording, on, source, target, 0, part.origin.data(),
                                       part.region.data(), rest...);
    });
    const CommandBuffer made = record_on(queue);
    EXPECT_EQ(CL_INVALID_VALUE, call.copy_buffer_to_image(made, nullptr, source, target, bytes_of(shape.size),
                                                          part.origin.data(), part.region.data(), 0, nullptr,
                                                          nullptr, nullptr));
  });
}

TEST_F(clCommandCopyBufferToImageKHR, GivenPropertiesOrHandleThenInvalidValue) {
  const Mem target = image(shape);
  const Mem source = buffer<unsigned char>(bytes_of(shape.size));
  expect_no_properties([&](auto recording, auto on, auto properties, auto... rest) {
    return call.copy_buffer_to_image.newer(recording, on, properties, source, target, 0, part.origin.data(),
                                           part.region.data(), rest...);
  });
}

}  // namespace clique::test::suite_clCommandCopyBufferToImageKHR
