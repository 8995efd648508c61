// clCreateImage: OpenCL 3.0, section 5.3.1.
#include <algorithm>

#include "images.hpp"

namespace clique::test::suite_clCreateImage {

class clCreateImage : public ImageTest {
 protected:
  cl_int create(const cl_image_desc& desc, cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr,
                const cl_image_format& format = kRgba8) {
    cl_int err = CL_SUCCESS;
    made = Mem(::clCreateImage(context, flags, &format, &desc, host, &err));
    EXPECT_EQ(err == CL_SUCCESS, made.get() != nullptr) << err;
    return err;
  }
  /// More than one clause of the specification applies to an invalid dimension.
  void expect_bad_size(const cl_image_desc& desc, const char* why) {
    const cl_int err = create(desc);
    EXPECT_TRUE(err == CL_INVALID_IMAGE_SIZE || err == CL_INVALID_IMAGE_DESCRIPTOR) << why << ": " << err;
  }
  size_t largest(cl_device_info name) {
    size_t result = 0;
    for (const cl_device_id each : image_devices())
      result = std::max(result, info<size_t>(clGetDeviceInfo, each, name));
    return result;
  }
  const ImageShape shape_2d = {"2D", CL_MEM_OBJECT_IMAGE2D, {9, 7, 1}};
  const ImageShape shape_3d = {"3D", CL_MEM_OBJECT_IMAGE3D, {9, 7, 5}};
  Mem made;
};

TEST_F(clCreateImage, GivenEachTypeThenCreatedWithItsData) {
  for (const ImageShape& shape : image_shapes()) {
    Bytes contents = numbered_bytes(bytes_of(shape.size));
    const Bytes expected = contents;
    ASSERT_CL(create(image_desc(shape), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, contents.data()))
        << shape.name;
    std::fill(contents.begin(), contents.end(), static_cast<unsigned char>(0));
    EXPECT_EQ(shape.type, info<cl_mem_object_type>(clGetMemObjectInfo, made.get(), CL_MEM_TYPE));
    EXPECT_EQ(expected, read_image(made, shape.size)) << shape.name;
  }
}

TEST_F(clCreateImage, GivenAnythingInFieldsThatTheTypeDoesNotHaveThenTheyAreIgnored) {
  constexpr size_t kAnything = 0xABCDEF0123;
  for (const ImageShape& shape : image_shapes()) {
    cl_image_desc desc = image_desc(shape);
    const bool array = shape.type == CL_MEM_OBJECT_IMAGE1D_ARRAY || shape.type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    const bool linear = shape.type == CL_MEM_OBJECT_IMAGE1D || shape.type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    if (!array) desc.image_array_size = kAnything;
    if (linear) desc.image_height = kAnything;
    if (shape.type != CL_MEM_OBJECT_IMAGE3D) desc.image_depth = kAnything;
    Bytes contents = numbered_bytes(bytes_of(shape.size));
    ASSERT_CL(create(desc, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, contents.data())) << shape.name;
    EXPECT_EQ(contents, read_image(made, shape.size)) << shape.name;
  }
}

TEST_F(clCreateImage, GivenHostDataWithPitchesThenTheyAreFollowed) {
  for (const ImageShape& shape : image_shapes()) {
    cl_image_desc desc = image_desc(shape);
    desc.image_row_pitch = (shape.size[0] + 3) * kPixel;
    const bool layered = shape.type == CL_MEM_OBJECT_IMAGE2D_ARRAY || shape.type == CL_MEM_OBJECT_IMAGE3D;
    if (layered) desc.image_slice_pitch = desc.image_row_pitch * (shape.size[1] + 2);
    if (shape.type == CL_MEM_OBJECT_IMAGE1D_ARRAY) desc.image_slice_pitch = desc.image_row_pitch;
    const Rect in_host = {{0, 0, 0},
                          desc.image_row_pitch,
                          layered ? desc.image_slice_pitch : desc.image_row_pitch * shape.size[1]};
    Bytes host = numbered_bytes(in_host.end(in_bytes(shape.size)) + desc.image_row_pitch);
    Bytes expected(bytes_of(shape.size));
    copy_rect(host, in_host, expected, {}, in_bytes(shape.size));
    ASSERT_CL(create(desc, CL_MEM_COPY_HOST_PTR, host.data())) << shape.name;
    EXPECT_EQ(expected, read_image(made, shape.size)) << shape.name;
  }
}

TEST_F(clCreateImage, GivenUsedHostMemoryThenItsDataIsTheImages) {
  Bytes host = numbered_bytes(bytes_of(shape_2d.size));
  const Bytes expected = host;
  ASSERT_CL(create(image_desc(shape_2d), CL_MEM_USE_HOST_PTR, host.data()));
  EXPECT_EQ(host.data(), info<void*>(clGetMemObjectInfo, made.get(), CL_MEM_HOST_PTR));
  EXPECT_EQ(expected, read_image(made, shape_2d.size));
}

TEST_F(clCreateImage, GivenBufferThen1dBufferImageSharesItsData) {
  const Bytes contents = numbered_bytes(256);
  const Mem store = buffer(contents.size(), contents.data());
  cl_image_desc desc = {};
  desc.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
  desc.image_width = 64;
  desc.buffer = store;
  ASSERT_CL(create(desc));
  EXPECT_EQ(store.get(), info<cl_mem>(clGetMemObjectInfo, made.get(), CL_MEM_ASSOCIATED_MEMOBJECT));
  EXPECT_EQ(store.get(), info<cl_mem>(clGetImageInfo, made.get(), CL_IMAGE_BUFFER));
  EXPECT_EQ(contents, read_image(made, {64, 1, 1}));
  const Size3 origin = {8, 0, 0};
  const Size3 region = {4, 1, 1};
  const Bytes pixels(16, 0xEE);
  ASSERT_CL(clEnqueueWriteImage(queue, made, CL_TRUE, origin.data(), region.data(), 0, 0, pixels.data(), 0,
                                nullptr, nullptr));
  Bytes expected = contents;
  std::copy(pixels.begin(), pixels.end(), expected.begin() + 32);
  EXPECT_EQ(expected, read<unsigned char>(store, 256));
}

TEST_F(clCreateImage, GivenBufferReleasedThen1dBufferImageKeepsTheData) {
  const Bytes contents = numbered_bytes(256);
  Mem store = buffer(contents.size(), contents.data());
  cl_image_desc desc = {};
  desc.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
  desc.image_width = 64;
  desc.buffer = store;
  ASSERT_CL(create(desc));
  store.reset();
  EXPECT_EQ(contents, read_image(made, {64, 1, 1}));
}

TEST_F(clCreateImage, Given1dBufferImageWithoutBufferOrLargerThanItThenRefused) {
  cl_image_desc desc = {};
  desc.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
  desc.image_width = 64;
  cl_int err = create(desc);
  EXPECT_TRUE(err == CL_INVALID_IMAGE_DESCRIPTOR || err == CL_INVALID_MEM_OBJECT) << "no buffer: " << err;
  const Mem store = buffer<unsigned char>(256);
  desc.buffer = store;
  desc.image_width = 65;
  expect_bad_size(desc, "larger than the buffer");
  desc.image_width = SIZE_MAX / 4 + 2;
  expect_bad_size(desc, "the size in bytes wraps around");
  desc.image_width = 64;
  desc.buffer = foreign_handle<cl_mem>();
  err = create(desc);
  EXPECT_TRUE(err == CL_INVALID_IMAGE_DESCRIPTOR || err == CL_INVALID_MEM_OBJECT) << "foreign: " << err;
}

TEST_F(clCreateImage, Given1dBufferImageWithFlagsBeyondTheBuffersThenInvalidValue) {
  struct Case {
    cl_mem_flags buffer;
    cl_mem_flags image;
  };
  const Case bad[] = {
      {CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE},          {CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY},
      {CL_MEM_READ_ONLY, CL_MEM_READ_WRITE},           {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY},
      {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY}, {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY},
      {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY},  {CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_WRITE_ONLY},
      {CL_MEM_READ_WRITE, CL_MEM_ALLOC_HOST_PTR}};
  for (const auto& each : bad) {
    const Mem store = buffer<unsigned char>(256, nullptr, each.buffer);
    cl_image_desc desc = {};
    desc.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
    desc.image_width = 64;
    desc.buffer = store;
    EXPECT_EQ(CL_INVALID_VALUE, create(desc, each.image)) << each.buffer << " " << each.image;
  }
}

TEST_F(clCreateImage, Given2dImageOfABufferThenSharedOrInvalidOperation) {
  const Bytes contents = numbered_bytes(4096);
  const Mem store = buffer(contents.size(), contents.data());
  cl_uint pitch = 0;
  for (const cl_device_id each : image_devices())
    pitch = std::max(pitch, info<cl_uint>(clGetDeviceInfo, each, CL_DEVICE_IMAGE_PITCH_ALIGNMENT));
  cl_image_desc desc = image_desc({"2D", CL_MEM_OBJECT_IMAGE2D, {16, 4, 1}});
  desc.buffer = store;
  if (pitch == 0) {
    EXPECT_EQ(CL_INVALID_OPERATION, create(desc));
    return;
  }
  const size_t row = std::max<size_t>(16, pitch) * kPixel;
  if (4 * row > contents.size()) GTEST_SKIP() << "rows of this device are " << row << " bytes";
  desc.image_row_pitch = row;
  ASSERT_CL(create(desc));
  Bytes expected(16 * 4 * kPixel);
  copy_rect(contents, {{0, 0, 0}, row, 4 * row}, expected, {}, {16 * kPixel, 4, 1});
  EXPECT_EQ(expected, read_image(made, {16, 4, 1}));
}

TEST_F(clCreateImage, Given2dImageOfABufferWithUnalignedRowsThenInvalidImageFormatDescriptor) {
  size_t pitch = 0;
  size_t origin = 1;
  size_t step = 0;
  for (const cl_device_id each : image_devices()) {
    pitch = std::max<size_t>(pitch, info<cl_uint>(clGetDeviceInfo, each, CL_DEVICE_IMAGE_PITCH_ALIGNMENT));
    origin = std::max<size_t>(origin,
                              info<cl_uint>(clGetDeviceInfo, each, CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT));
    step = std::max<size_t>(step, info<cl_uint>(clGetDeviceInfo, each, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);
  }
  if (pitch <= 1) GTEST_SKIP() << "any row pitch will do";
  const size_t row = 2 * pitch * kPixel;
  const Mem store = buffer(8 * row, Bytes(8 * row).data());
  cl_image_desc desc = image_desc({"2D", CL_MEM_OBJECT_IMAGE2D, {16, 4, 1}});
  desc.buffer = store;
  desc.image_width = pitch;
  desc.image_row_pitch = row - pitch * kPixel + kPixel;
  EXPECT_EQ(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, create(desc));
  desc.image_row_pitch = row;
  ASSERT_CL(create(desc));
  if (step % (origin * kPixel) == 0) return;
  const cl_buffer_region region = {step, 4 * row};
  cl_int err = CL_SUCCESS;
  const Mem part(clCreateSubBuffer(store, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err));
  ASSERT_CL(err);
  desc.buffer = part;
  EXPECT_EQ(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, create(desc));
}

TEST_F(clCreateImage, GivenExclusiveOrUnknownFlagsThenInvalidValue) {
  for (const cl_mem_flags flags :
       {cl_mem_flags{CL_MEM_READ_WRITE | CL_MEM_READ_ONLY},
        cl_mem_flags{CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY},
        cl_mem_flags{CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY},
        cl_mem_flags{CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS}, cl_mem_flags{1} << 40}) {
    EXPECT_EQ(CL_INVALID_VALUE, create(image_desc(shape_2d), flags)) << flags;
  }
  Bytes host(bytes_of(shape_2d.size));
  EXPECT_EQ(CL_INVALID_VALUE,
            create(image_desc(shape_2d), CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, host.data()));
}

TEST_F(clCreateImage, GivenHostPointerAndFlagsThatDisagreeThenInvalidHostPtr) {
  Bytes host(bytes_of(shape_2d.size));
  EXPECT_EQ(CL_INVALID_HOST_PTR, create(image_desc(shape_2d), CL_MEM_READ_WRITE, host.data()));
  EXPECT_EQ(CL_INVALID_HOST_PTR, create(image_desc(shape_2d), CL_MEM_COPY_HOST_PTR));
  EXPECT_EQ(CL_INVALID_HOST_PTR, create(image_desc(shape_2d), CL_MEM_USE_HOST_PTR));
}

TEST_F(clCreateImage, GivenBadFormatThenInvalidImageFormatDescriptor) {
  const cl_image_desc desc = image_desc(shape_2d);
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateImage(context, CL_MEM_READ_WRITE, nullptr, &desc, nullptr, &err));
  EXPECT_EQ(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, err);
  for (const cl_image_format& format : {cl_image_format{0, CL_UNSIGNED_INT8}, cl_image_format{CL_RGBA, 0},
                                        cl_image_format{CL_UNSIGNED_INT8, CL_RGBA}}) {
    EXPECT_EQ(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, create(desc, CL_MEM_READ_WRITE, nullptr, format));
  }
}

TEST_F(clCreateImage, GivenFormatsThatExcludeEachOtherThenRefused) {
  for (const cl_image_format& format :
       {cl_image_format{CL_RGBA, CL_UNORM_SHORT_565}, cl_image_format{CL_RGB, CL_UNSIGNED_INT8},
        cl_image_format{CL_BGRA, CL_FLOAT}, cl_image_format{CL_INTENSITY, CL_SIGNED_INT8}}) {
    const cl_int err = create(image_desc(shape_2d), CL_MEM_READ_WRITE, nullptr, format);
    EXPECT_TRUE(err == CL_INVALID_IMAGE_FORMAT_DESCRIPTOR || err == CL_IMAGE_FORMAT_NOT_SUPPORTED) << err;
  }
}

TEST_F(clCreateImage, GivenValidFormatThatNoDeviceSupportsThenImageFormatNotSupported) {
  const auto supported = formats(CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D);
  for (const cl_image_format& format :
       {cl_image_format{CL_INTENSITY, CL_FLOAT}, cl_image_format{CL_RGB, CL_UNORM_INT_101010},
        cl_image_format{CL_ARGB, CL_SIGNED_INT8}, cl_image_format{CL_RGB, CL_UNORM_SHORT_555},
        cl_image_format{CL_RA, CL_HALF_FLOAT}, cl_image_format{CL_sRGBA, CL_UNORM_INT8}}) {
    const bool known = std::any_of(supported.begin(), supported.end(), [&](const cl_image_format& each) {
      return each.image_channel_order == format.image_channel_order &&
             each.image_channel_data_type == format.image_channel_data_type;
    });
    const cl_int err = create(image_desc(shape_2d), CL_MEM_READ_WRITE, nullptr, format);
    EXPECT_EQ(known ? CL_SUCCESS : CL_IMAGE_FORMAT_NOT_SUPPORTED, err)
        << std::hex << format.image_channel_order << " " << format.image_channel_data_type;
  }
}

TEST_F(clCreateImage, GivenBadDescriptorThenInvalidImageDescriptor) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateImage(context, CL_MEM_READ_WRITE, &kRgba8, nullptr, nullptr, &err));
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, err);
  cl_image_desc desc = image_desc(shape_2d);
  desc.image_type = CL_MEM_OBJECT_BUFFER;
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(desc)) << "no image type";
  desc.image_type = 0;
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(desc)) << "no type";
  desc = image_desc(shape_2d);
  desc.num_samples = 1;
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(desc)) << "samples";
  const Mem store = buffer<unsigned char>(65536);
  desc = image_desc(shape_3d);
  desc.buffer = store;
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(desc)) << "a 3D image cannot be made of a buffer";
  if (info<std::string>(clGetDeviceInfo, device, CL_DEVICE_EXTENSIONS).find("cl_khr_mipmap_image") ==
      std::string::npos) {
    desc = image_desc(shape_2d);
    desc.num_mip_levels = 2;
    EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(desc)) << "mip levels";
  }
}

TEST_F(clCreateImage, GivenBadPitchesThenInvalidImageDescriptor) {
  Bytes host(1 << 16);
  const size_t row = shape_3d.size[0] * kPixel;
  cl_image_desc desc = image_desc(shape_2d);
  desc.image_row_pitch = row;
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(desc)) << "row pitch without host memory";
  desc.image_row_pitch = row - kPixel;
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(desc, CL_MEM_COPY_HOST_PTR, host.data())) << "too small";
  desc.image_row_pitch = row + 1;
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(desc, CL_MEM_COPY_HOST_PTR, host.data()))
      << "no multiple of the pixel";
  desc = image_desc(shape_3d);
  desc.image_slice_pitch = row * shape_3d.size[1];
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(desc)) << "slice pitch without host memory";
  desc.image_row_pitch = row;
  desc.image_slice_pitch = row * (shape_3d.size[1] - 1);
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(desc, CL_MEM_COPY_HOST_PTR, host.data()))
      << "slice too small";
  desc.image_slice_pitch = row * shape_3d.size[1] + kPixel;
  EXPECT_EQ(CL_INVALID_IMAGE_DESCRIPTOR, create(desc, CL_MEM_COPY_HOST_PTR, host.data()))
      << "slice no multiple of the row";
}

TEST_F(clCreateImage, GivenNoSizeThenRefused) {
  for (const ImageShape& shape : image_shapes()) {
    cl_image_desc desc = image_desc(shape);
    desc.image_width = 0;
    expect_bad_size(desc, shape.name);
  }
  cl_image_desc desc = image_desc(shape_2d);
  desc.image_height = 0;
  expect_bad_size(desc, "no height");
  desc = image_desc(shape_3d);
  desc.image_depth = 0;
  expect_bad_size(desc, "no depth");
  desc = image_desc({"2D array", CL_MEM_OBJECT_IMAGE2D_ARRAY, {9, 7, 0}});
  expect_bad_size(desc, "no layers");
}

TEST_F(clCreateImage, GivenMoreThanAnyDeviceAllowsThenInvalidImageSize) {
  const size_t max_2d = largest(CL_DEVICE_IMAGE2D_MAX_WIDTH);
  const size_t max_3d = largest(CL_DEVICE_IMAGE3D_MAX_WIDTH);
  const size_t max_layers = largest(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);
  const ImageShape bad[] = {
      {"1D width", CL_MEM_OBJECT_IMAGE1D, {max_2d + 1, 1, 1}},
      {"2D width", CL_MEM_OBJECT_IMAGE2D, {max_2d + 1, 1, 1}},
      {"2D height", CL_MEM_OBJECT_IMAGE2D, {1, largest(CL_DEVICE_IMAGE2D_MAX_HEIGHT) + 1, 1}},
      {"3D width", CL_MEM_OBJECT_IMAGE3D, {max_3d + 1, 1, 1}},
      {"3D height", CL_MEM_OBJECT_IMAGE3D, {1, largest(CL_DEVICE_IMAGE3D_MAX_HEIGHT) + 1, 1}},
      {"3D depth", CL_MEM_OBJECT_IMAGE3D, {1, 1, largest(CL_DEVICE_IMAGE3D_MAX_DEPTH) + 1}},
      {"1D layers", CL_MEM_OBJECT_IMAGE1D_ARRAY, {1, max_layers + 1, 1}},
      {"2D layers", CL_MEM_OBJECT_IMAGE2D_ARRAY, {1, 1, max_layers + 1}},
      {"everything", CL_MEM_OBJECT_IMAGE2D, {SIZE_MAX, SIZE_MAX, 1}},
  };
  for (const ImageShape& shape : bad)
    EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create(image_desc(shape))) << shape.name;
}

TEST_F(clCreateImage, GivenNullContextThenInvalidContext) {
  const cl_image_desc desc = image_desc(shape_2d);
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateImage(nullptr, CL_MEM_READ_WRITE, &kRgba8, &desc, nullptr, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

TEST_F(clCreateImage, GivenNoErrorPointerThenCreated) {
  const cl_image_desc desc = image_desc(shape_2d);
  made = Mem(::clCreateImage(context, CL_MEM_READ_WRITE, &kRgba8, &desc, nullptr, nullptr));
  EXPECT_NE(nullptr, made.get());
}

TEST_F(clCreateImage, GivenImageThenEveryDeviceSeesItsData) {
  const Bytes contents = numbered_bytes(bytes_of(shape_2d.size));
  made = image(shape_2d, &contents);
  for (const cl_device_id each : image_devices()) {
    queue = make_queue(0, each);
    EXPECT_EQ(contents, read_image(made, shape_2d.size));
  }
}

}  // namespace clique::test::suite_clCreateImage
