// clEnqueueReadImage: OpenCL 3.0, section 5.3.3.
#include "images.hpp"

namespace clique::test::suite_clEnqueueReadImage {

class clEnqueueReadImage : public ImageTest {
 protected:
  cl_int read_part(cl_mem image, const ImagePart& part, void* ptr, size_t row_pitch = 0,
                   size_t slice_pitch = 0) {
    return ::clEnqueueReadImage(queue, image, CL_TRUE, part.origin.data(), part.region.data(), row_pitch,
                                slice_pitch, ptr, 0, nullptr, nullptr);
  }
  const ImageShape shape_2d = {"2D", CL_MEM_OBJECT_IMAGE2D, {9, 7, 1}};
};

TEST_F(clEnqueueReadImage, GivenEachTypeThenItsPixels) {
  for (const ImageShape& shape : image_shapes()) {
    const Bytes contents = numbered_bytes(bytes_of(shape.size));
    EXPECT_EQ(contents, read_image(image(shape, &contents), shape.size)) << shape.name;
  }
}

TEST_F(clEnqueueReadImage, GivenPartOfEachTypeThenItsPixels) {
  for (const ImageShape& shape : image_shapes()) {
    const Bytes contents = numbered_bytes(bytes_of(shape.size));
    const ImagePart part = part_of(shape);
    Bytes expected(bytes_of(part.region));
    copy_rect(contents, pixels_at(part.origin, shape.size), expected, {}, in_bytes(part.region));
    Bytes out(expected.size());
    EXPECT_CL(read_part(image(shape, &contents), part, out.data())) << shape.name;
    EXPECT_EQ(expected, out) << shape.name;
  }
}

TEST_F(clEnqueueReadImage, GivenPitchesThenThePaddingIsUntouched) {
  for (const ImageShape& shape : image_shapes()) {
    const Bytes contents = numbered_bytes(bytes_of(shape.size));
    const size_t row = (shape.size[0] + 3) * kPixel;
    const bool layered = shape.type == CL_MEM_OBJECT_IMAGE2D_ARRAY || shape.type == CL_MEM_OBJECT_IMAGE3D;
    const bool array_1d = shape.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const size_t slice = layered ? row * (shape.size[1] + 2) : array_1d ? row : 0;
    const Rect in_host = {{0, 0, 0}, row, layered ? slice : row * shape.size[1]};
    Bytes expected(in_host.end(in_bytes(shape.size)), 0xA5);
    Bytes out = expected;
    copy_rect(contents, {}, expected, in_host, in_bytes(shape.size));
    EXPECT_CL(read_part(image(shape, &contents), {{0, 0, 0}, shape.size}, out.data(), row, slice))
        << shape.name;
    EXPECT_EQ(expected, out) << shape.name;
  }
}

TEST_F(clEnqueueReadImage, GivenNonBlockingReadThenPixelsAreThereWhenTheEventCompletes) {
  const Bytes contents = numbered_bytes(bytes_of(shape_2d.size));
  const Mem made = image(shape_2d, &contents);
  const Size3 origin = {0, 0, 0};
  Bytes out(contents.size());
  Event event;
  ASSERT_CL(::clEnqueueReadImage(queue, made, CL_FALSE, origin.data(), shape_2d.size.data(), 0, 0, out.data(),
                                 0, nullptr, event.out()));
  ASSERT_CL(clWaitForEvents(1, event.ptr()));
  EXPECT_EQ(contents, out);
}

TEST_F(clEnqueueReadImage, GivenPartOutsideTheImageOrItsDimensionsThenInvalidValue) {
  Bytes host(1 << 16);
  for (const ImageShape& shape : image_shapes()) {
    const Mem made = image(shape);
    for (const BadImagePart& bad : bad_parts(shape)) {
      EXPECT_EQ(CL_INVALID_VALUE, read_part(made, bad.part, host.data())) << shape.name << ": " << bad.why;
    }
  }
}

TEST_F(clEnqueueReadImage, GivenSlicePitchForFlatImageThenInvalidValue) {
  Bytes host(1 << 16);
  const ImagePart part = {{0, 0, 0}, {4, 1, 1}};
  EXPECT_EQ(CL_INVALID_VALUE, read_part(image(shape_2d), part, host.data(), 0, 4096));
  EXPECT_EQ(CL_INVALID_VALUE, read_part(image(image_shapes()[0]), part, host.data(), 0, 4096));
}

TEST_F(clEnqueueReadImage, GivenNullArgumentsThenInvalidValue) {
  const Mem made = image(shape_2d);
  const Size3 origin = {0, 0, 0};
  const Size3 region = {1, 1, 1};
  Bytes host(64);
  const auto call = [&](const size_t* at, const size_t* of, void* ptr) {
    return ::clEnqueueReadImage(queue, made, CL_TRUE, at, of, 0, 0, ptr, 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, call(nullptr, region.data(), host.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(origin.data(), nullptr, host.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(origin.data(), region.data(), nullptr));
}

TEST_F(clEnqueueReadImage, GivenObjectThatIsNoImageThenInvalidMemObject) {
  Bytes host(64);
  const Mem a_buffer = buffer<unsigned char>(64);
  for (const cl_mem bad : no_images(a_buffer)) {
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, read_part(bad, {{0, 0, 0}, {1, 1, 1}}, host.data())) << bad;
  }
}

TEST_F(clEnqueueReadImage, GivenImageClosedToTheHostThenInvalidOperation) {
  Bytes host(64);
  for (const cl_mem_flags flags : {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS}) {
    const Mem closed = image(shape_2d, nullptr, kRgba8, flags);
    EXPECT_EQ(CL_INVALID_OPERATION, read_part(closed, {{0, 0, 0}, {1, 1, 1}}, host.data())) << flags;
  }
}

TEST_F(clEnqueueReadImage, GivenDeviceWithoutImagesThenInvalidOperation) {
  const Mem made = image(shape_2d);
  Bytes host(64);
  for (const cl_device_id each : devices()) {
    if (info<cl_bool>(clGetDeviceInfo, each, CL_DEVICE_IMAGE_SUPPORT)) continue;
    queue = make_queue(0, each);
    EXPECT_EQ(CL_INVALID_OPERATION, read_part(made, {{0, 0, 0}, {1, 1, 1}}, host.data()));
  }
}

TEST_F(clEnqueueReadImage, GivenCallThenRulesOfEveryEnqueueHold) {
  const Mem made = image(shape_2d);
  const Size3 origin = {0, 0, 0};
  Bytes host(bytes_of(shape_2d.size));
  const auto enqueue = [&](cl_bool blocking) {
    return [&, blocking](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
      return ::clEnqueueReadImage(on, made, blocking, origin.data(), shape_2d.size.data(), 0, 0, host.data(),
                                  count, list, event);
    };
  };
  expect_enqueue_rules(context, device, CL_COMMAND_READ_IMAGE, enqueue(CL_FALSE));
  expect_failed_event_ends_command(context, device, enqueue(CL_FALSE));
}

TEST_F(clEnqueueReadImage, GivenFailedEventInWaitListThenBlockingCallReportsIt) {
  const Mem made = image(shape_2d);
  const Size3 origin = {0, 0, 0};
  Bytes host(bytes_of(shape_2d.size));
  expect_blocking_reports_failed_event(
      context, device, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
        return ::clEnqueueReadImage(on, made, CL_TRUE, origin.data(), shape_2d.size.data(), 0, 0, host.data(),
                                    count, list, event);
      });
}

}  // namespace clique::test::suite_clEnqueueReadImage
