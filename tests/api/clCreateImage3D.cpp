// clCreateImage3D: OpenCL 3.0, section 5.3.1 (deprecated).
#include "images.hpp"

namespace clique::test::suite_clCreateImage3D {

class clCreateImage3D : public ImageTest {
 protected:
  cl_int create(const Size3& size, size_t row_pitch = 0, size_t slice_pitch = 0,
                cl_mem_flags flags = CL_MEM_READ_WRITE, void* host = nullptr,
                const cl_image_format* format = &kRgba8) {
    cl_int err = CL_SUCCESS;
    made = Mem(::clCreateImage3D(context, flags, format, size[0], size[1], size[2], row_pitch, slice_pitch,
                                 host, &err));
    EXPECT_EQ(err == CL_SUCCESS, made.get() != nullptr) << err;
    return err;
  }
  Mem made;
};

TEST_F(clCreateImage3D, GivenSizeThenImageOfIt) {
  ASSERT_CL(create({9, 7, 5}));
  EXPECT_EQ(cl_mem_object_type{CL_MEM_OBJECT_IMAGE3D},
            info<cl_mem_object_type>(clGetMemObjectInfo, made.get(), CL_MEM_TYPE));
  EXPECT_EQ(9U, info<size_t>(clGetImageInfo, made.get(), CL_IMAGE_WIDTH));
  EXPECT_EQ(7U, info<size_t>(clGetImageInfo, made.get(), CL_IMAGE_HEIGHT));
  EXPECT_EQ(5U, info<size_t>(clGetImageInfo, made.get(), CL_IMAGE_DEPTH));
}

TEST_F(clCreateImage3D, GivenHostDataWithPitchesThenItIsTaken) {
  Bytes host = numbered_bytes(5 * 480);
  Bytes expected(9 * 7 * 5 * kPixel);
  copy_rect(host, {{0, 0, 0}, 48, 480}, expected, {}, {36, 7, 5});
  ASSERT_CL(create({9, 7, 5}, 48, 480, CL_MEM_COPY_HOST_PTR, host.data()));
  EXPECT_EQ(expected, read_image(made, {9, 7, 5}));
}

TEST_F(clCreateImage3D, GivenBadSizeOrPitchThenInvalidImageSize) {
  Bytes host(1 << 14);
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create({0, 7, 5}));
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create({9, 0, 5}));
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create({9, 7, 0}));
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create({9, 7, 1})) << "this call makes no flat images";
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create({9, 7, 5}, 36)) << "a pitch without host memory";
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create({9, 7, 5}, 32, 0, CL_MEM_COPY_HOST_PTR, host.data()));
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create({9, 7, 5}, 36, 36 * 6, CL_MEM_COPY_HOST_PTR, host.data()));
  EXPECT_EQ(CL_INVALID_IMAGE_SIZE, create({9, 7, 5}, 36, 36 * 7 + 4, CL_MEM_COPY_HOST_PTR, host.data()));
}

TEST_F(clCreateImage3D, GivenBadFlagsFormatOrPointerThenTheirErrors) {
  Bytes host(4096);
  EXPECT_EQ(CL_INVALID_VALUE, create({9, 7, 5}, 0, 0, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY));
  EXPECT_EQ(CL_INVALID_HOST_PTR, create({9, 7, 5}, 0, 0, CL_MEM_COPY_HOST_PTR));
  EXPECT_EQ(CL_INVALID_HOST_PTR, create({9, 7, 5}, 0, 0, CL_MEM_READ_WRITE, host.data()));
  EXPECT_EQ(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, create({9, 7, 5}, 0, 0, CL_MEM_READ_WRITE, nullptr, nullptr));
}

TEST_F(clCreateImage3D, GivenNullContextThenInvalidContext) {
  cl_int err = CL_SUCCESS;
  EXPECT_EQ(nullptr, ::clCreateImage3D(nullptr, CL_MEM_READ_WRITE, &kRgba8, 9, 7, 5, 0, 0, nullptr, &err));
  EXPECT_EQ(CL_INVALID_CONTEXT, err);
}

}  // namespace clique::test::suite_clCreateImage3D
