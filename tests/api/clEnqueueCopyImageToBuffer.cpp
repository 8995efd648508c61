// clEnqueueCopyImageToBuffer: OpenCL 3.0, section 5.3.6.
#include <algorithm>

#include "images.hpp"

namespace clique::test::suite_clEnqueueCopyImageToBuffer {

class clEnqueueCopyImageToBuffer : public ImageTest {
 protected:
  cl_int copy(cl_mem from, cl_mem to, const ImagePart& part, size_t offset) {
    return ::clEnqueueCopyImageToBuffer(queue, from, to, part.origin.data(), part.region.data(), offset, 0,
                                        nullptr, nullptr);
  }
  const ImageShape shape_2d = {"2D", CL_MEM_OBJECT_IMAGE2D, {9, 7, 1}};
};

TEST_F(clEnqueueCopyImageToBuffer, GivenPartOfEachTypeThenItIsPackedIntoTheBuffer) {
  for (const ImageShape& shape : image_shapes()) {
    const Bytes contents = numbered_bytes(bytes_of(shape.size));
    const ImagePart part = part_of(shape);
    const size_t offset = 20;
    Bytes pixels(bytes_of(part.region));
    copy_rect(contents, pixels_at(part.origin, shape.size), pixels, {}, in_bytes(part.region));
    Bytes expected(offset + pixels.size() + 12, 0xA5);
    const Mem target = buffer(expected.size(), expected.data());
    std::copy(pixels.begin(), pixels.end(), expected.begin() + offset);
    EXPECT_CL(copy(image(shape, &contents), target, part, offset)) << shape.name;
    EXPECT_EQ(expected, read<unsigned char>(target, expected.size())) << shape.name;
  }
}

TEST_F(clEnqueueCopyImageToBuffer, GivenBufferTooSmallThenInvalidValue) {
  const Mem made = image(shape_2d);
  const Mem target = buffer<unsigned char>(bytes_of(shape_2d.size));
  const ImagePart whole = {{0, 0, 0}, shape_2d.size};
  EXPECT_CL(copy(made, target, whole, 0));
  EXPECT_EQ(CL_INVALID_VALUE, copy(made, target, whole, 4));
  EXPECT_EQ(CL_INVALID_VALUE, copy(made, target, whole, bytes_of(shape_2d.size)));
  EXPECT_EQ(CL_INVALID_VALUE, copy(made, target, whole, SIZE_MAX - 3)) << "the end wraps around";
}

TEST_F(clEnqueueCopyImageToBuffer, GivenPartOutsideTheImageThenInvalidValue) {
  const Mem target = buffer<unsigned char>(1 << 16);
  for (const ImageShape& shape : image_shapes()) {
    const Mem made = image(shape);
    for (const BadImagePart& bad : bad_parts(shape)) {
      EXPECT_EQ(CL_INVALID_VALUE, copy(made, target, bad.part, 0)) << shape.name << ": " << bad.why;
    }
  }
}

TEST_F(clEnqueueCopyImageToBuffer, GivenNullArgumentsThenInvalidValue) {
  const Mem made = image(shape_2d);
  const Mem target = buffer<unsigned char>(4096);
  const Size3 origin = {0, 0, 0};
  const Size3 region = {1, 1, 1};
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueCopyImageToBuffer(queue, made, target, nullptr, region.data(), 0, 0,
                                                           nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, ::clEnqueueCopyImageToBuffer(queue, made, target, origin.data(), nullptr, 0, 0,
                                                           nullptr, nullptr));
}

TEST_F(clEnqueueCopyImageToBuffer, GivenObjectsOfTheWrongKindThenInvalidMemObject) {
  const Mem made = image(shape_2d);
  const Mem other_image = image(shape_2d);
  const Mem target = buffer<unsigned char>(4096);
  const ImagePart part = {{0, 0, 0}, {1, 1, 1}};
  for (const cl_mem bad : no_images(target))
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, copy(bad, target, part, 0)) << bad;
  for (const cl_mem bad : {cl_mem{}, foreign_handle<cl_mem>(), other_image.get()}) {
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, copy(made, bad, part, 0)) << bad;
  }
}

TEST_F(clEnqueueCopyImageToBuffer, GivenImageMadeOfTheBufferThenInvalidMemObject) {
  const Mem store = buffer<unsigned char>(256);
  const Mem made = image_of(store, 16);
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, copy(made, store, {{0, 0, 0}, {1, 1, 1}}, 128));
}

TEST_F(clEnqueueCopyImageToBuffer, GivenBufferOfAnotherContextThenInvalidContext) {
  const Mem made = image(shape_2d);
  const OtherContext other;
  EXPECT_EQ(CL_INVALID_CONTEXT, copy(made, other.buffer, {{0, 0, 0}, {1, 1, 1}}, 0));
}

TEST_F(clEnqueueCopyImageToBuffer, GivenCallThenRulesOfEveryEnqueueHold) {
  const Mem made = image(shape_2d);
  const Mem target = buffer<unsigned char>(4096);
  const Size3 origin = {0, 0, 0};
  expect_enqueue_rules(context, device, CL_COMMAND_COPY_IMAGE_TO_BUFFER,
                       [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                         return ::clEnqueueCopyImageToBuffer(on, made, target, origin.data(),
                                                             shape_2d.size.data(), 0, count, list, event);
                       });
}

}  // namespace clique::test::suite_clEnqueueCopyImageToBuffer
