// clGetSupportedImageFormats: OpenCL 3.0, section 5.3.2.
#include <set>

#include "images.hpp"

namespace clique::test::suite_clGetSupportedImageFormats {

class clGetSupportedImageFormats : public ImageTest {
 protected:
  using Formats = std::set<std::pair<cl_uint, cl_uint>>;

  Formats get(cl_mem_flags flags, cl_mem_object_type type) {
    Formats result;
    for (const auto& format : formats(flags, type)) {
      EXPECT_TRUE(result.emplace(format.image_channel_order, format.image_channel_data_type).second)
          << "twice: " << std::hex << format.image_channel_order << " " << format.image_channel_data_type;
    }
    return result;
  }
  const std::vector<cl_mem_object_type> types = {CL_MEM_OBJECT_IMAGE1D,       CL_MEM_OBJECT_IMAGE1D_BUFFER,
                                                 CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D,
                                                 CL_MEM_OBJECT_IMAGE2D_ARRAY, CL_MEM_OBJECT_IMAGE3D};
};

TEST_F(clGetSupportedImageFormats, GivenFullProfileThenTheMandatoryFormatsCanBeRead) {
  if (info<std::string>(clGetDeviceInfo, device, CL_DEVICE_PROFILE) != "FULL_PROFILE")
    GTEST_SKIP() << "the embedded profile requires fewer";
  for (const auto type : types) {
    const Formats found = get(CL_MEM_READ_ONLY, type);
    for (const cl_channel_type data_type :
         {CL_UNORM_INT8, CL_UNORM_INT16, CL_SNORM_INT8, CL_SNORM_INT16, CL_SIGNED_INT8, CL_SIGNED_INT16,
          CL_SIGNED_INT32, CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, CL_UNSIGNED_INT32, CL_HALF_FLOAT, CL_FLOAT}) {
      EXPECT_TRUE(found.count({CL_RGBA, data_type})) << std::hex << type << " " << data_type;
    }
    EXPECT_TRUE(found.count({CL_BGRA, CL_UNORM_INT8})) << std::hex << type;
  }
}

TEST_F(clGetSupportedImageFormats, GivenEachFormatThenAnImageOfItCanBeMade) {
  for (const ImageShape& shape : image_shapes()) {
    for (const cl_mem_flags flags : {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE}) {
      for (const auto& format : formats(flags, shape.type)) {
        const Mem made = image(shape, nullptr, format, flags);
        EXPECT_NE(nullptr, made.get())
            << std::hex << format.image_channel_order << " " << format.image_channel_data_type;
      }
    }
  }
}

TEST_F(clGetSupportedImageFormats, GivenNoReadWriteImagesThenNoFormatForReadAndWrite) {
  for (const cl_device_id each : image_devices()) {
    if (info<cl_uint>(clGetDeviceInfo, each, CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS) != 0)
      GTEST_SKIP() << "a device supports read-write images";
  }
  EXPECT_TRUE(formats(CL_MEM_KERNEL_READ_AND_WRITE, CL_MEM_OBJECT_IMAGE2D).empty());
}

TEST_F(clGetSupportedImageFormats, GivenFewerEntriesThenOnlyThoseAreWritten) {
  cl_image_format list[2] = {{0, 0}, {0, 0}};
  cl_uint count = 0;
  EXPECT_CL(::clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 1, list, &count));
  EXPECT_GT(count, 1U);
  EXPECT_NE(0U, list[0].image_channel_order);
  EXPECT_EQ(0U, list[1].image_channel_order);
}

TEST_F(clGetSupportedImageFormats, GivenNothingToReturnThenSuccess) {
  EXPECT_CL(
      ::clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, 0, nullptr, nullptr));
}

TEST_F(clGetSupportedImageFormats, GivenListWithoutEntriesThenInvalidValue) {
  cl_image_format format = {0, 0};
  cl_uint count = 0;
  EXPECT_EQ(CL_INVALID_VALUE, ::clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D,
                                                           0, &format, &count));
}

TEST_F(clGetSupportedImageFormats, GivenBadTypeThenInvalidValue) {
  cl_uint count = 0;
  for (const cl_mem_object_type type : {cl_mem_object_type{CL_MEM_OBJECT_BUFFER},
                                        cl_mem_object_type{CL_MEM_OBJECT_PIPE}, cl_mem_object_type{0}}) {
    EXPECT_EQ(CL_INVALID_VALUE,
              ::clGetSupportedImageFormats(context, CL_MEM_READ_ONLY, type, 0, nullptr, &count))
        << type;
  }
}

TEST_F(clGetSupportedImageFormats, GivenBadFlagsThenInvalidValue) {
  cl_uint count = 0;
  for (const cl_mem_flags flags :
       {cl_mem_flags{CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY}, cl_mem_flags{1} << 40}) {
    EXPECT_EQ(CL_INVALID_VALUE,
              ::clGetSupportedImageFormats(context, flags, CL_MEM_OBJECT_IMAGE2D, 0, nullptr, &count))
        << flags;
  }
}

TEST_F(clGetSupportedImageFormats, GivenNullContextThenInvalidContext) {
  cl_uint count = 0;
  EXPECT_EQ(CL_INVALID_CONTEXT, ::clGetSupportedImageFormats(nullptr, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D,
                                                             0, nullptr, &count));
}

}  // namespace clique::test::suite_clGetSupportedImageFormats
