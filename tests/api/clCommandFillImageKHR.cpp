// clCommandFillImageKHR: cl_khr_command_buffer 0.9.8.
#include "command_buffers.hpp"

namespace clique::test::suite_clCommandFillImageKHR {

class clCommandFillImageKHR : public CommandBufferImageTest {
 protected:
  const ImageShape shape = {"2D", CL_MEM_OBJECT_IMAGE2D, {9, 7, 1}};
  const ImagePart part = part_of(shape);
  const std::array<cl_uint, 4> color = {1, 2, 3, 254};
};

TEST_F(clCommandFillImageKHR, GivenPartThenOnlyItIsFilled) {
  in_both_forms([&] {
    Bytes expected(bytes_of(shape.size), 0xA5);
    const Mem target = image(shape, &expected);
    Bytes pixels(bytes_of(part.region));
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<unsigned char>(color[i % 4]);
    const CommandBuffer made = record_on(queue);
    ASSERT_CL(call.fill_image(made, nullptr, target, color.data(), part.origin.data(), part.region.data(), 0,
                              nullptr, nullptr, nullptr));
    run(made);
    copy_rect(pixels, {}, expected, pixels_at(part.origin, shape.size), in_bytes(part.region));
    EXPECT_EQ(expected, read_image(target, shape.size));
  });
}

TEST_F(clCommandFillImageKHR, GivenCallThenRulesOfEveryRecordingHold) {
  in_both_forms([&] {
    const Mem target = image(shape);
    expect_recording_rules([&](auto recording, auto on, auto... rest) {
      return call.fill_image(recording, on, target, color.data(), part.origin.data(), part.region.data(),
                             rest...);
    });
    const CommandBuffer made = record_on(queue);
    EXPECT_EQ(CL_INVALID_VALUE, call.fill_image(made, nullptr, target, nullptr, part.origin.data(),
                                                part.region.data(), 0, nullptr, nullptr, nullptr));
  });
}

TEST_F(clCommandFillImageKHR, GivenPropertiesOrHandleThenInvalidValue) {
  const Mem target = image(shape);
  expect_no_properties([&](auto recording, auto on, auto properties, auto... rest) {
    return call.fill_image.newer(recording, on, properties, target, color.data(), part.origin.data(),
                                 part.region.data(), rest...);
  });
}

}  // namespace clique::test::suite_clCommandFillImageKHR
