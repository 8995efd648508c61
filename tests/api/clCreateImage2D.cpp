// clCreateImage2D: OpenCL 3.0, section 5.3.1 (deprecated).
#include <algorithm>

#include "images.hpp"

namespace clique::test::suite_clCreateImage2D {

class clCreateImage2D : public ImageTest {
 protected:
  cl_int create(size_t width, size_t height, size_t row_pitch = 0, cl_mem_flags flags = CL_MEM_READ_WRITE,
                void* host = nullptr, const cl_image_format* format = &kRgba8) {
    cl_int err = CL_SUCCESS;
    made = Mem(::clCreateImage2D(context, flags, format, width, height, row_pitch, host, &err));
    EXPECT_EQ(err == CL_SUCCESS, made.get() != nullptr) << err;
    return err;
  }
  Mem made;
};

TEST_F(clCreateImage2D, GivenSizeThenImageOfIt) {
  ASSERT_CL(create(9, 7));
  EXPECT_EQ(cl_mem_object_type{CL_MEM_OBJECT_IMAGE2D},
            info<cl_mem_object_type>(clGetMemObjectInfo, made.get(), CL_MEM_TYPE));
  EXPECT_EQ(9U, info<size_t>(clGetImageInfo, made.get(), CL_IMAGE_WIDTH));
  EXPECT_EQ(7U, info<size_t>(clGetImageInfo, made.get(), CL_IMAGE_HEIGHT));
  EXPECT_EQ(0U, info<size_t>(clGetImageInfo, made.get(), CL_IMAGE_DEPTH));
}

TEST_F(clCreateImage2D, GivenHostDataWithPitchThenItIsTaken) {
  Bytes host = numbered_bytes(7 * 48);
  Bytes expected(9 * 7 * kPixel);
  copy_rect(host, {{0, 0, 0}, 48, 7 * 48}, expected, {}, {36, 7, 1});
  ASSERT_CL(create(9, 7, 48, CL_MEM_COPY_HOST_PTR, host.data()));
  EXPECT_EQ(expected, read_image(made, {9, 7, 1}));
}

TEST_F(clCreateImage2D, GivenBadSizeOrPitchThenInvalidImageSize) {
  Bytes host(4096);
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create(0, 7));
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create(9, 0));
  size_t largest = 0;
  for (const cl_device_id each : image_devices())
    largest = std::max(largest, info<size_t>(clGetDeviceInfo, each, CL_DEVICE_IMAGE2D_MAX_WIDTH));
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create(largest + 1, 1));
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create(9, 7, 36)) << "a pitch without host memory";
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create(9, 7, 32, CL_MEM_COPY_HOST_PTR, host.data())) << "pitch too small";
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create(9, 7, 37, CL_MEM_COPY_HOST_PTR, host.data()))
      << "pitch no multiple of the pixel";
}

TEST_F(clCreateImage2D, GivenBadFlagsFormatOrPointerThenTheirErrors) {
  Bytes host(4096);
  EXPECT_EQ(CL_INVALID_VALUE, create(9, 7, 0, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY));
  EXPECT_EQ(CL_INVALID_HOST_PTR, create(9, 7, 0, CL_MEM_COPY_HOST_PTR));
  EXPECT_EQ(CL_INVALID_HOST_PTR, create(9, 7, 0, CL_MEM_READ_WRITE, host.data()));
  EXPECT_EQ(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, create(9, 7, 0, CL_MEM_READ_WRITE, nullptr, nullptr));
  const cl_image_format bad = {0, 0};
  EXPECT_EQ(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, create(9, 7, 0, CL_MEM_READ_WRITE, nullptr, &bad));
}

TEST_F(clCreateImage2D, GivenNullContextThenInvalidContext) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateImage2D(nullptr, CL_MEM_READ_WRITE, &kRgba8, 9, 7, 0, nullptr, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

}  // namespace clique::test::suite_clCreateImage2D
