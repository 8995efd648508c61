// clEnqueueCopyBufferToImage: OpenCL 3.0, section 5.3.6.
#include "images.hpp"

namespace clique::test::suite_clEnqueueCopyBufferToImage {

class clEnqueueCopyBufferToImage : public ImageTest {
 protected:
  cl_int copy(cl_mem from, cl_mem to, const ImagePart& part, size_t offset) {
    return ::clEnqueueCopyBufferToImage(queue, from, to, offset, part.origin.data(), part.region.data(), 0,
                                        nullptr, nullptr);
  }
  const ImageShape shape_2d = {"2D", CL_MEM_OBJECT_IMAGE2D, {9, 7, 1}};
};

TEST_F(clEnqueueCopyBufferToImage, GivenPartOfEachTypeThenItHasTheBuffersPixels) {
  for (const ImageShape& shape : image_shapes()) {
    Bytes expected(bytes_of(shape.size), 0xA5);
    const Mem made = image(shape, &expected);
    const ImagePart part = part_of(shape);
    const size_t offset = 20;
    const Bytes bytes = numbered_bytes(offset + bytes_of(part.region));
    const Bytes pixels(bytes.begin() + offset, bytes.end());
    copy_rect(pixels, {}, expected, pixels_at(part.origin, shape.size), in_bytes(part.region));
    EXPECT_CL(copy(buffer(bytes.size(), bytes.data()), made, part, offset)) << shape.name;
    EXPECT_EQ(expected, read_image(made, shape.size)) << shape.name;
  }
}

TEST_F(clEnqueueCopyBufferToImage, GivenBufferTooSmallThenInvalidValue) {
  const Mem made = image(shape_2d);
  const Mem source = buffer<unsigned char>(bytes_of(shape_2d.size));
  const ImagePart whole = {{0, 0, 0}, shape_2d.size};
  EXPECT_CL(copy(source, made, whole, 0));
  EXPECT_EQ(CL_INVALID_VALUE, copy(source, made, whole, 4));
  EXPECT_EQ(CL_INVALID_VALUE, copy(source, made, whole, bytes_of(shape_2d.size)));
  EXPECT_EQ(CL_INVALID_VALUE, copy(source, made, whole, SIZE_MAX - 3)) << "the end wraps around";
}

TEST_F(clEnqueueCopyBufferToImage, GivenPartOutsideTheImageThenInvalidValue) {
  const Mem source = buffer<unsigned char>(1 << 16);
  for (const ImageShape& shape : image_shapes()) {
    const Mem made = image(shape);
    for (const BadImagePart& bad : bad_parts(shape)) {
      EXPECT_EQ(CL_INVALID_VALUE, copy(source, made, bad.part, 0)) << shape.name << ": " << bad.why;
    }
  }
}

TEST_F(clEnqueueCopyBufferToImage, GivenNullArgumentsThenInvalidValue) {
  const Mem made = image(shape_2d);
  const Mem source = buffer<unsigned char>(4096);
  const Size3 origin = {0, 0, 0};
  const Size3 region = {1, 1, 1};
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueCopyBufferToImage(queue, source, made, 0, nullptr, region.data(), 0,
                                                           nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueCopyBufferToImage(queue, source, made, 0, origin.data(), nullptr, 0,
                                                           nullptr, nullptr));
}

TEST_F(clEnqueueCopyBufferToImage, GivenObjectsOfTheWrongKindThenInvalidMemObject) {
  const Mem made = image(shape_2d);
  const Mem other_image = image(shape_2d);
  const Mem source = buffer<unsigned char>(4096);
  const ImagePart part = {{0, 0, 0}, {1, 1, 1}};
  for (const cl_mem bad : no_images(source))
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, copy(source, bad, part, 0)) << bad;
  for (const cl_mem bad : {cl_mem{}, foreign_handle<cl_mem>(), other_image.get()}) {
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, copy(bad, made, part, 0)) << bad;
  }
}

TEST_F(clEnqueueCopyBufferToImage, GivenImageMadeOfTheBufferThenInvalidMemObject) {
  const Mem store = buffer<unsigned char>(256);
  const Mem made = image_of(store, 16);
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, copy(store, made, {{0, 0, 0}, {1, 1, 1}}, 128));
}

TEST_F(clEnqueueCopyBufferToImage, GivenBufferOfAnotherContextThenInvalidContext) {
  const Mem made = image(shape_2d);
  const OtherContext other;
  EXPECT_EQ(CL_INVALID_CONTEXT, copy(other.buffer, made, {{0, 0, 0}, {1, 1, 1}}, 0));
}

TEST_F(clEnqueueCopyBufferToImage, GivenCallThenRulesOfEveryEnqueueHold) {
  const Mem made = image(shape_2d);
  const Mem source = buffer<unsigned char>(4096);
  const Size3 origin = {0, 0, 0};
  expect_enqueue_rules(context, device, CL_COMMAND_COPY_BUFFER_TO_IMAGE,
                       [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                         return ::clEnqueueCopyBufferToImage(on, source, made, 0, origin.data(),
                                                             shape_2d.size.data(), count, list, event);
                       });
}

}  // namespace clique::test::suite_clEnqueueCopyBufferToImage
