// clEnqueueWriteImage: OpenCL 3.0, section 5.3.3.
#include "images.hpp"

namespace clique::test::suite_clEnqueueWriteImage {

class clEnqueueWriteImage : public ImageTest {
 protected:
  cl_int write_part(cl_mem image, const ImagePart& part, const void* ptr, size_t row_pitch = 0,
                    size_t slice_pitch = 0) {
    return ::clEnqueueWriteImage(queue, image, CL_TRUE, part.origin.data(), part.region.data(), row_pitch,
                                 slice_pitch, ptr, 0, nullptr, nullptr);
  }
  const ImageShape shape_2d = {"2D", CL_MEM_OBJECT_IMAGE2D, {9, 7, 1}};
};

TEST_F(clEnqueueWriteImage, GivenEachTypeThenItHasThePixels) {
  for (const ImageShape& shape : image_shapes()) {
    const Bytes contents = numbered_bytes(bytes_of(shape.size));
    const Mem made = image(shape);
    EXPECT_CL(write_part(made, {{0, 0, 0}, shape.size}, contents.data())) << shape.name;
    EXPECT_EQ(contents, read_image(made, shape.size)) << shape.name;
  }
}

TEST_F(clEnqueueWriteImage, GivenPartOfEachTypeThenTheRestStays) {
  for (const ImageShape& shape : image_shapes()) {
    Bytes expected(bytes_of(shape.size), 0xA5);
    const Mem made = image(shape, &expected);
    const ImagePart part = part_of(shape);
    const Bytes pixels = numbered_bytes(bytes_of(part.region));
    copy_rect(pixels, {}, expected, pixels_at(part.origin, shape.size), in_bytes(part.region));
    EXPECT_CL(write_part(made, part, pixels.data())) << shape.name;
    EXPECT_EQ(expected, read_image(made, shape.size)) << shape.name;
  }
}

TEST_F(clEnqueueWriteImage, GivenPitchesThenThePaddingIsLeftOut) {
  for (const ImageShape& shape : image_shapes()) {
    const size_t row = (shape.size[0] + 3) * kPixel;
    const bool layered = shape.type == CL_MEM_OBJECT_IMAGE2D_ARRAY || shape.type == CL_MEM_OBJECT_IMAGE3D;
    const bool array_1d = shape.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const size_t slice = layered ? row * (shape.size[1] + 2) : array_1d ? row : 0;
    const Rect in_host = {{0, 0, 0}, row, layered ? slice : row * shape.size[1]};
    const Bytes host = numbered_bytes(in_host.end(in_bytes(shape.size)));
    Bytes expected(bytes_of(shape.size));
    copy_rect(host, in_host, expected, {}, in_bytes(shape.size));
    const Mem made = image(shape);
    EXPECT_CL(write_part(made, {{0, 0, 0}, shape.size}, host.data(), row, slice)) << shape.name;
    EXPECT_EQ(expected, read_image(made, shape.size)) << shape.name;
  }
}

TEST_F(clEnqueueWriteImage, GivenEachFormatThenPixelsComeBackAsTheyWere) {
  for (const auto& format : formats(CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D)) {
    const Mem made = image(shape_2d, nullptr, format);
    ASSERT_NE(nullptr, made.get());
    const auto pixel = info<size_t>(clGetImageInfo, made.get(), CL_IMAGE_ELEMENT_SIZE);
    // Small values are valid in every format, also in those with padding bits.
    Bytes contents(bytes_of(shape_2d.size, pixel));
    for (size_t i = 0; i < contents.size(); ++i) contents[i] = static_cast<unsigned char>(i % 16);
    EXPECT_CL(write_part(made, {{0, 0, 0}, shape_2d.size}, contents.data()));
    EXPECT_EQ(contents, read_image(made, shape_2d.size, pixel))
        << std::hex << format.image_channel_order << " " << format.image_channel_data_type;
  }
}

TEST_F(clEnqueueWriteImage, GivenRowsWrittenByAllDevicesThenTheyAllCount) {
  Bytes expected(bytes_of(shape_2d.size), 0);
  const Mem made = image(shape_2d, &expected);
  const auto all = image_devices();
  for (size_t row = 0; row < shape_2d.size[1]; ++row) {
    queue = make_queue(0, all[row % all.size()]);
    const ImagePart part = {{0, row, 0}, {shape_2d.size[0], 1, 1}};
    const Bytes pixels(bytes_of(part.region), static_cast<unsigned char>(row + 1));
    ASSERT_CL(write_part(made, part, pixels.data()));
    copy_rect(pixels, {}, expected, pixels_at(part.origin, shape_2d.size), in_bytes(part.region));
  }
  EXPECT_EQ(expected, read_image(made, shape_2d.size));
}

TEST_F(clEnqueueWriteImage, GivenPartOutsideTheImageOrItsDimensionsThenInvalidValue) {
  Bytes host(1 << 16);
  for (const ImageShape& shape : image_shapes()) {
    const Mem made = image(shape);
    for (const BadImagePart& bad : bad_parts(shape)) {
      EXPECT_EQ(CL_INVALID_VALUE, write_part(made, bad.part, host.data())) << shape.name << ": " << bad.why;
    }
  }
}

TEST_F(clEnqueueWriteImage, GivenSlicePitchForFlatImageThenInvalidValue) {
  Bytes host(1 << 16);
  const ImagePart part = {{0, 0, 0}, {4, 1, 1}};
  EXPECT_EQ(CL_INVALID_VALUE, write_part(image(shape_2d), part, host.data(), 0, 4096));
  EXPECT_EQ(CL_INVALID_VALUE, write_part(image(image_shapes()[0]), part, host.data(), 0, 4096));
}

TEST_F(clEnqueueWriteImage, GivenNullArgumentsThenInvalidValue) {
  const Mem made = image(shape_2d);
  const Size3 origin = {0, 0, 0};
  const Size3 region = {1, 1, 1};
  Bytes host(64);
  const auto call = [&](const size_t* at, const size_t* of, void* ptr) {
    return ::clEnqueueWriteImage(queue, made, CL_TRUE, at, of, 0, 0, ptr, 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_VALUE, call(nullptr, region.data(), host.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(origin.data(), nullptr, host.data()));
  EXPECT_EQ(CL_INVALID_VALUE, call(origin.data(), region.data(), nullptr));
}

TEST_F(clEnqueueWriteImage, GivenObjectThatIsNoImageThenInvalidMemObject) {
  Bytes host(64);
  const Mem a_buffer = buffer<unsigned char>(64);
  for (const cl_mem bad : no_images(a_buffer)) {
    EXPECT_EQ(CL_INVALID_MEM_OBJECT, write_part(bad, {{0, 0, 0}, {1, 1, 1}}, host.data())) << bad;
  }
}

TEST_F(clEnqueueWriteImage, GivenImageClosedToTheHostThenInvalidOperation) {
  Bytes host(64);
  for (const cl_mem_flags flags : {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS}) {
    const Mem closed = image(shape_2d, nullptr, kRgba8, flags);
    EXPECT_EQ(CL_INVALID_OPERATION, write_part(closed, {{0, 0, 0}, {1, 1, 1}}, host.data())) << flags;
  }
}

TEST_F(clEnqueueWriteImage, GivenDeviceWithoutImagesThenInvalidOperation) {
  const Mem made = image(shape_2d);
  Bytes host(64);
  for (const cl_device_id each : devices()) {
    if (info<cl_bool>(clGetDeviceInfo, each, CL_DEVICE_IMAGE_SUPPORT)) continue;
    queue = make_queue(0, each);
    EXPECT_EQ(CL_INVALID_OPERATION, write_part(made, {{0, 0, 0}, {1, 1, 1}}, host.data()));
  }
}

TEST_F(clEnqueueWriteImage, GivenCallThenRulesOfEveryEnqueueHold) {
  const Mem made = image(shape_2d);
  const Size3 origin = {0, 0, 0};
  Bytes host(bytes_of(shape_2d.size));
  const auto enqueue = [&](cl_bool blocking) {
    return [&, blocking](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
      return ::clEnqueueWriteImage(on, made, blocking, origin.data(), shape_2d.size.data(), 0, 0, host.data(),
                                   count, list, event);
    };
  };
  expect_enqueue_rules(context, device, CL_COMMAND_WRITE_IMAGE, enqueue(CL_FALSE));
  expect_failed_event_ends_command(context, device, enqueue(CL_FALSE));
}

TEST_F(clEnqueueWriteImage, GivenFailedEventInWaitListThenBlockingCallReportsIt) {
  const Mem made = image(shape_2d);
  const Size3 origin = {0, 0, 0};
  Bytes host(bytes_of(shape_2d.size));
  expect_blocking_reports_failed_event(
      context, device, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
        return ::clEnqueueWriteImage(on, made, CL_TRUE, origin.data(), shape_2d.size.data(), 0, 0,
                                     host.data(), count, list, event);
      });
}

}  // namespace clique::test::suite_clEnqueueWriteImage
