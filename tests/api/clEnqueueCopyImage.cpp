// clEnqueueCopyImage: OpenCL 3.0, section 5.3.4.
#include <algorithm>

#include "images.hpp"

namespace clique::test::suite_clEnqueueCopyImage {

class clEnqueueCopyImage : public ImageTest {
 protected:
  cl_int copy(cl_mem from, cl_mem to, const Size3& from_origin, const Size3& to_origin, const Size3& region) {
    return ::clEnqueueCopyImage(queue, from, to, from_origin.data(), to_origin.data(), region.data(), 0,
                                nullptr, nullptr);
  }
  const ImageShape shape_2d = {"2D", CL_MEM_OBJECT_IMAGE2D, {9, 7, 1}};
  const ImageShape shape_2d_array = {"2D array", CL_MEM_OBJECT_IMAGE2D_ARRAY, {9, 7, 5}};
  const ImageShape shape_3d = {"3D", CL_MEM_OBJECT_IMAGE3D, {9, 7, 5}};
};

TEST_F(clEnqueueCopyImage, GivenEachTypeThenWholeImageIsCopied) {
  for (const ImageShape& shape : image_shapes()) {
    const Bytes contents = numbered_bytes(bytes_of(shape.size));
    const Mem source = image(shape, &contents);
    const Mem target = image(shape);
    EXPECT_CL(copy(source, target, {0, 0, 0}, {0, 0, 0}, shape.size)) << shape.name;
    EXPECT_EQ(contents, read_image(target, shape.size)) << shape.name;
  }
}

TEST_F(clEnqueueCopyImage, GivenPartOfEachTypeThenTheRestStays) {
  for (const ImageShape& shape : image_shapes()) {
    const Bytes contents = numbered_bytes(bytes_of(shape.size));
    Bytes expected(contents.size(), 0xA5);
    const Mem source = image(shape, &contents);
    const Mem target = image(shape, &expected);
    const ImagePart part = part_of(shape);
    EXPECT_CL(copy(source, target, part.origin, {0, 0, 0}, part.region)) << shape.name;
    copy_rect(contents, pixels_at(part.origin, shape.size), expected, pixels_at({0, 0, 0}, shape.size),
              in_bytes(part.region));
    EXPECT_EQ(expected, read_image(target, shape.size)) << shape.name;
  }
}

TEST_F(clEnqueueCopyImage, GivenLayerOfOneTypeThenItCanBeCopiedToAnother) {
  const Bytes layers = numbered_bytes(bytes_of(shape_3d.size));
  const Bytes third(layers.begin() + 2 * bytes_of(shape_2d.size),
                    layers.begin() + 3 * bytes_of(shape_2d.size));
  for (const ImageShape& shape : {shape_3d, shape_2d_array}) {
    const Mem source = image(shape, &layers);
    const Mem flat = image(shape_2d);
    EXPECT_CL(copy(source, flat, {0, 0, 2}, {0, 0, 0}, shape_2d.size)) << shape.name;
    EXPECT_EQ(third, read_image(flat, shape_2d.size)) << shape.name;
    Bytes expected(layers.size(), 0);
    const Mem target = image(shape, &expected);
    EXPECT_CL(copy(flat, target, {0, 0, 0}, {0, 0, 4}, shape_2d.size)) << shape.name;
    std::copy(third.begin(), third.end(), expected.begin() + 4 * third.size());
    EXPECT_EQ(expected, read_image(target, shape.size)) << shape.name;
  }
}

TEST_F(clEnqueueCopyImage, GivenDisjointPartsOfOneImageThenCopied) {
  Bytes contents = numbered_bytes(bytes_of(shape_2d.size));
  const Mem made = image(shape_2d, &contents);
  EXPECT_CL(copy(made, made, {0, 0, 0}, {4, 3, 0}, {4, 3, 1}));
  const Bytes before = contents;
  copy_rect(before, pixels_at({0, 0, 0}, shape_2d.size), contents, pixels_at({4, 3, 0}, shape_2d.size),
            in_bytes({4, 3, 1}));
  EXPECT_EQ(contents, read_image(made, shape_2d.size));
}

TEST_F(clEnqueueCopyImage, GivenOverlapInOneImageThenMemCopyOverlap) {
  const Mem flat = image(shape_2d);
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(flat, flat, {0, 0, 0}, {0, 0, 0}, {4, 3, 1}));
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(flat, flat, {0, 0, 0}, {3, 2, 0}, {4, 3, 1}));
  const Mem deep = image(shape_3d);
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(deep, deep, {0, 0, 0}, {1, 1, 1}, {4, 3, 2}));
  EXPECT_CL(copy(deep, deep, {0, 0, 0}, {1, 1, 2}, {4, 3, 2}));
}

TEST_F(clEnqueueCopyImage, GivenChainOverAllDevicesThenPixelsArriveUnchanged) {
  const Bytes contents = numbered_bytes(bytes_of(shape_2d.size));
  Mem from = image(shape_2d, &contents);
  for (const cl_device_id each : image_devices()) {
    queue = make_queue(0, each);
    Mem to = image(shape_2d);
    ASSERT_CL(copy(from, to, {0, 0, 0}, {0, 0, 0}, shape_2d.size));
    ASSERT_CL(clFinish(queue));
    from = std::move(to);
  }
  EXPECT_EQ(contents, read_image(from, shape_2d.size));
}

TEST_F(clEnqueueCopyImage, GivenDifferentFormatsThenImageFormatMismatch) {
  const Mem source = image(shape_2d);
  const Mem target = image(shape_2d, nullptr, {CL_RGBA, CL_SIGNED_INT8});
  EXPECT_EQ(CL_IMAGE_FORMAT_MISMATCH, copy(source, target, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}));
}

TEST_F(clEnqueueCopyImage, GivenPartOutsideEitherImageThenInvalidValue) {
  for (const ImageShape& shape : image_shapes()) {
    const Mem source = image(shape);
    const Mem target = image(shape);
    for (const BadImagePart& bad : bad_parts(shape)) {
      EXPECT_EQ(CL_INVALID_VALUE, copy(source, target, bad.part.origin, {0, 0, 0}, bad.part.region))
          << shape.name << ", source: " << bad.why;
      EXPECT_EQ(CL_INVALID_VALUE, copy(source, target, {0, 0, 0}, bad.part.origin, bad.part.region))
          << shape.name << ", target: " << bad.why;
    }
  }
}

TEST_F(clEnqueueCopyImage, GivenNullArgumentsThenInvalidValue) {
  const Mem source = image(shape_2d);
  const Mem target = image(shape_2d);
  const Size3 origin = {0, 0, 0};
  const Size3 region = {1, 1, 1};
  const auto call = [&](const size_t* from, const size_t* to, const size_t* of) {
    return ::clEnqueueCopyImage(queue, source, target, from, to, of, 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, call(nullptr, origin.data(), region.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(origin.data(), nullptr, region.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(origin.data(), origin.data(), nullptr));
}

TEST_F(clEnqueueCopyImage, GivenObjectThatIsNoImageThenInvalidMemObject) {
  const Mem made = image(shape_2d);
  const Mem a_buffer = buffer<unsigned char>(1024);
  for (const cl_mem bad : no_images(a_buffer)) {
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, copy(bad, made, {0, 0, 0}, {0, 0, 0}, {1, 1, 1})) << bad;
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, copy(made, bad, {0, 0, 0}, {0, 0, 0}, {1, 1, 1})) << bad;
  }
}

TEST_F(clEnqueueCopyImage, GivenImageOfAnotherContextThenInvalidContext) {
  const Mem made = image(shape_2d);
  const Context other = another_context();
  const cl_image_desc desc = image_desc(shape_2d);
  cl_int err = CL_SUCCESS;
  const Mem foreign(clCreateImage(other, CL_MEM_READ_WRITE, &kRgba8, &desc, nullptr, &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(CL_INVALID_CONTEXT, copy(foreign, made, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}));
  EXPECT_EQ(CL_INVALID_CONTEXT, copy(made, foreign, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}));
}

TEST_F(clEnqueueCopyImage, GivenCallThenRulesOfEveryEnqueueHold) {
  const Mem source = image(shape_2d);
  const Mem target = image(shape_2d);
  const Size3 origin = {0, 0, 0};
  expect_enqueue_rules(context, device, CL_COMMAND_COPY_IMAGE,
                       [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                         return ::clEnqueueCopyImage(on, source, target, origin.data(), origin.data(),
                                                     shape_2d.size.data(), count, list, event);
                       });
}

}  // namespace clique::test::suite_clEnqueueCopyImage
