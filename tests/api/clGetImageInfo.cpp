// clGetImageInfo: OpenCL 3.0, section 5.3.9.
#include "images.hpp"

namespace clique::test::suite_clGetImageInfo {

class clGetImageInfo : public ImageTest {
 protected:
  template <typename T>
  static T get(cl_mem image, cl_image_info name) {
    return info<T>(::clGetImageInfo, image, name);
  }
};

TEST_F(clGetImageInfo, GivenEachTypeThenItsDimensions) {
  for (const ImageShape& shape : image_shapes()) {
    SCOPED_TRACE(shape.name);
    const Mem made = image(shape);
    const cl_image_desc desc = image_desc(shape);
    EXPECT_EQ(desc.image_width, get<size_t>(made, CL_IMAGE_WIDTH));
    EXPECT_EQ(desc.image_height, get<size_t>(made, CL_IMAGE_HEIGHT));
    EXPECT_EQ(desc.image_depth, get<size_t>(made, CL_IMAGE_DEPTH));
    EXPECT_EQ(desc.image_array_size, get<size_t>(made, CL_IMAGE_ARRAY_SIZE));
    EXPECT_EQ(0U, get<cl_uint>(made, CL_IMAGE_NUM_MIP_LEVELS));
    EXPECT_EQ(0U, get<cl_uint>(made, CL_IMAGE_NUM_SAMPLES));
    EXPECT_EQ(nullptr, get<cl_mem>(made, CL_IMAGE_BUFFER));
    EXPECT_EQ(kPixel, get<size_t>(made, CL_IMAGE_ELEMENT_SIZE));
  }
}

TEST_F(clGetImageInfo, GivenNoPitchesThenTightOnes) {
  for (const ImageShape& shape : image_shapes()) {
    SCOPED_TRACE(shape.name);
    const Mem made = image(shape);
    const size_t row = shape.size[0] * kPixel;
    EXPECT_EQ(row, get<size_t>(made, CL_IMAGE_ROW_PITCH));
    const size_t slice = shape.type == CL_MEM_OBJECT_IMAGE1D || shape.type == CL_MEM_OBJECT_IMAGE2D ? 0
                         : shape.type == CL_MEM_OBJECT_IMAGE1D_ARRAY                                ? row
                                                                     : row * shape.size[1];
    EXPECT_EQ(slice, get<size_t>(made, CL_IMAGE_SLICE_PITCH));
  }
}

TEST_F(clGetImageInfo, GivenPitchesThenTheyAreReported) {
  cl_image_desc desc = image_desc({"3D", CL_MEM_OBJECT_IMAGE3D, {9, 7, 5}});
  desc.image_row_pitch = 48;
  desc.image_slice_pitch = 480;
  Bytes host(5 * 480);
  cl_int err = CL_SUCCESS;
  const Mem made(clCreateImage(context, CL_MEM_USE_HOST_PTR, &kRgba8, &desc, host.data(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  EXPECT_EQ(48U, get<size_t>(made, CL_IMAGE_ROW_PITCH));
  EXPECT_EQ(480U, get<size_t>(made, CL_IMAGE_SLICE_PITCH));
}

TEST_F(clGetImageInfo, GivenFormatsThenTheyAreReportedWithTheirSize) {
  struct Case {
    cl_image_format format;
    size_t size;
  };
  const Case cases[] = {{{CL_RGBA, CL_UNSIGNED_INT8}, 4}, {{CL_RGBA, CL_UNORM_INT16}, 8},
                        {{CL_RGBA, CL_FLOAT}, 16},        {{CL_BGRA, CL_UNORM_INT8}, 4},
                        {{CL_RGBA, CL_HALF_FLOAT}, 8},    {{CL_RGBA, CL_SIGNED_INT32}, 16}};
  for (const auto& each : cases) {
    const Mem made = image(image_shapes()[2], nullptr, each.format);
    cl_image_format format = {0, 0};
    size_t size = 0;
    ASSERT_CL(::clGetImageInfo(made, CL_IMAGE_FORMAT, sizeof format, &format, &size));
    EXPECT_EQ(sizeof format, size);
    EXPECT_EQ(each.format.image_channel_order, format.image_channel_order);
    EXPECT_EQ(each.format.image_channel_data_type, format.image_channel_data_type);
    EXPECT_EQ(each.size, get<size_t>(made, CL_IMAGE_ELEMENT_SIZE));
  }
}

TEST_F(clGetImageInfo, GivenMemObjectQueriesThenTheyWorkForImages) {
  const Mem made = image(image_shapes()[2], nullptr, kRgba8, CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY);
  EXPECT_EQ(cl_mem_flags{CL_MEM_READ_ONLY | CL_MEM_HOST_WRITE_ONLY},
            info<cl_mem_flags>(clGetMemObjectInfo, made.get(), CL_MEM_FLAGS));
  EXPECT_GE(info<size_t>(clGetMemObjectInfo, made.get(), CL_MEM_SIZE), bytes_of(image_shapes()[2].size));
  EXPECT_EQ(1U, info<cl_uint>(clGetMemObjectInfo, made.get(), CL_MEM_REFERENCE_COUNT));
  EXPECT_EQ(0U, info<cl_uint>(clGetMemObjectInfo, made.get(), CL_MEM_MAP_COUNT));
  EXPECT_EQ(context.get(), info<cl_context>(clGetMemObjectInfo, made.get(), CL_MEM_CONTEXT));
  EXPECT_EQ(nullptr, info<cl_mem>(clGetMemObjectInfo, made.get(), CL_MEM_ASSOCIATED_MEMOBJECT));
}

TEST_F(clGetImageInfo, GivenAnyNameThenSizeAndNameRulesHold) {
  const Mem made = image(image_shapes()[2]);
  for (const cl_image_info name :
       {CL_IMAGE_FORMAT, CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_ROW_PITCH, CL_IMAGE_SLICE_PITCH, CL_IMAGE_WIDTH,
        CL_IMAGE_HEIGHT, CL_IMAGE_DEPTH, CL_IMAGE_ARRAY_SIZE, CL_IMAGE_BUFFER, CL_IMAGE_NUM_MIP_LEVELS,
        CL_IMAGE_NUM_SAMPLES}) {
    SCOPED_TRACE(name);
    expect_info_rules(::clGetImageInfo, made.get(), name);
  }
}

TEST_F(clGetImageInfo, GivenObjectThatIsNoImageThenInvalidMemObject) {
  size_t value = 0;
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, ::clGetImageInfo(nullptr, CL_IMAGE_WIDTH, sizeof value, &value, nullptr));
  const Mem no_image = buffer<cl_int>(4);
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, ::clGetImageInfo(no_image, CL_IMAGE_WIDTH, sizeof value, &value, nullptr));
}

}  // namespace clique::test::suite_clGetImageInfo
