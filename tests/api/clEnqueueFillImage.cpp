// clEnqueueFillImage: OpenCL 3.0, section 5.3.5.
#include <cstring>

#include "images.hpp"

namespace clique::test::suite_clEnqueueFillImage {

class clEnqueueFillImage : public ImageTest {
 protected:
  cl_int fill(cl_mem image, const void* color, const ImagePart& part) {
    return ::clEnqueueFillImage(queue, image, color, part.origin.data(), part.region.data(), 0, nullptr,
                                nullptr);
  }
  /// The content of one pixel of `format` after a fill with `color`.
  template <typename Color>
  Bytes filled_pixel(const cl_image_format& format, const Color& color, size_t pixel) {
    Bytes zeros(bytes_of(shape_2d.size, pixel), 0);
    const Mem made = image(shape_2d, &zeros, format);
    EXPECT_CL(fill(made, color.data(), {{0, 0, 0}, shape_2d.size}));
    const Bytes all = read_image(made, shape_2d.size, pixel);
    const Bytes first(all.begin(), all.begin() + pixel);
    for (size_t i = 0; i < all.size(); i += pixel)
      EXPECT_EQ(first, Bytes(all.begin() + i, all.begin() + i + pixel)) << i / pixel;
    return first;
  }
  template <typename T>
  static Bytes bytes_like(std::initializer_list<T> values) {
    Bytes bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.begin(), bytes.size());
    return bytes;
  }
  const ImageShape shape_2d = {"2D", CL_MEM_OBJECT_IMAGE2D, {9, 7, 1}};
  const std::array<cl_uint, 4> color = {1, 2, 3, 254};
};

TEST_F(clEnqueueFillImage, GivenPartOfEachTypeThenOnlyItIsFilled) {
  for (const ImageShape& shape : image_shapes()) {
    Bytes expected(bytes_of(shape.size), 0xA5);
    const Mem made = image(shape, &expected);
    const ImagePart part = part_of(shape);
    Bytes pixels(bytes_of(part.region));
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<unsigned char>(color[i % 4]);
    copy_rect(pixels, {}, expected, pixels_at(part.origin, shape.size), in_bytes(part.region));
    EXPECT_CL(fill(made, color.data(), part)) << shape.name;
    EXPECT_EQ(expected, read_image(made, shape.size)) << shape.name;
  }
}

TEST_F(clEnqueueFillImage, GivenIntegerFormatsThenColorIsStoredAsItIs) {
  const std::array<cl_int, 4> negative = {-1, -2, 3, 4};
  EXPECT_EQ(bytes_like<cl_short>({-1, -2, 3, 4}), filled_pixel({CL_RGBA, CL_SIGNED_INT16}, negative, 8));
  EXPECT_EQ(bytes_like<cl_int>({-1, -2, 3, 4}), filled_pixel({CL_RGBA, CL_SIGNED_INT32}, negative, 16));
  EXPECT_EQ(bytes_like<cl_ushort>({1, 2, 3, 254}), filled_pixel({CL_RGBA, CL_UNSIGNED_INT16}, color, 8));
}

TEST_F(clEnqueueFillImage, GivenFloatAndNormalizedFormatsThenColorIsConverted) {
  const std::array<cl_float, 4> floats = {0.0F, 1.0F, 0.5F, -2.0F};
  EXPECT_EQ(bytes_like<cl_float>({0.0F, 1.0F, 0.5F, -2.0F}), filled_pixel({CL_RGBA, CL_FLOAT}, floats, 16));
  const std::array<cl_float, 4> ends = {0.0F, 1.0F, 1.0F, 0.0F};
  EXPECT_EQ(bytes_like<cl_uchar>({0, 255, 255, 0}), filled_pixel({CL_RGBA, CL_UNORM_INT8}, ends, 4));
  EXPECT_EQ(bytes_like<cl_ushort>({0, 65535, 65535, 0}), filled_pixel({CL_RGBA, CL_UNORM_INT16}, ends, 8));
}

TEST_F(clEnqueueFillImage, GivenBgraThenColorIsReordered) {
  const std::array<cl_float, 4> red = {1.0F, 0.0F, 0.0F, 1.0F};
  EXPECT_EQ(bytes_like<cl_uchar>({0, 0, 255, 255}), filled_pixel({CL_BGRA, CL_UNORM_INT8}, red, 4));
}

TEST_F(clEnqueueFillImage, GivenColorThenItMayBeReusedAtOnce) {
  auto temporary = color;
  const Mem made = image(shape_2d);
  const Size3 origin = {0, 0, 0};
  const Event gate = user_event();
  ASSERT_CL(::clEnqueueFillImage(queue, made, temporary.data(), origin.data(), shape_2d.size.data(), 1,
                                 gate.ptr(), nullptr));
  temporary = {9, 9, 9, 9};
  ASSERT_CL(clSetUserEventStatus(gate, CL_COMPLETE));
  const Bytes pixels = read_image(made, shape_2d.size);
  EXPECT_EQ(Bytes({1, 2, 3, 254}), Bytes(pixels.begin(), pixels.begin() + 4));
}

TEST_F(clEnqueueFillImage, GivenPartOutsideTheImageThenInvalidValue) {
  for (const ImageShape& shape : image_shapes()) {
    const Mem made = image(shape);
    for (const BadImagePart& bad : bad_parts(shape)) {
      EXPECT_EQ(CL_INVALID_VALUE, fill(made, color.data(), bad.part)) << shape.name << ": " << bad.why;
    }
  }
}

TEST_F(clEnqueueFillImage, GivenNullArgumentsThenInvalidValue) {
  const Mem made = image(shape_2d);
  const Size3 origin = {0, 0, 0};
  const Size3 region = {1, 1, 1};
  const auto call = [&](const void* with, const size_t* at, const size_t* of) {
    return ::clEnqueueFillImage(queue, made, with, at, of, 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, call(nullptr, origin.data(), region.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(color.data(), nullptr, region.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(color.data(), origin.data(), nullptr));
}

TEST_F(clEnqueueFillImage, GivenObjectThatIsNoImageThenInvalidMemObject) {
  const Mem a_buffer = buffer<unsigned char>(1024);
  for (const cl_mem bad : no_images(a_buffer)) {
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, fill(bad, color.data(), {{0, 0, 0}, {1, 1, 1}})) << bad;
  }
}

TEST_F(clEnqueueFillImage, GivenCallThenRulesOfEveryEnqueueHold) {
  const Mem made = image(shape_2d);
  const Size3 origin = {0, 0, 0};
  expect_enqueue_rules(context, device, CL_COMMAND_FILL_IMAGE,
                       [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                         return ::clEnqueueFillImage(on, made, color.data(), origin.data(),
                                                     shape_2d.size.data(), count, list, event);
                       });
}

}  // namespace clique::test::suite_clEnqueueFillImage
