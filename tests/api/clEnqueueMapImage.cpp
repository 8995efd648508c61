// clEnqueueMapImage: OpenCL 3.0, section 5.3.7.
#include <algorithm>

#include "images.hpp"

namespace clique::test::suite_clEnqueueMapImage {

class clEnqueueMapImage : public ImageTest {
 protected:
  struct Mapped {
    unsigned char* pointer = nullptr;
    size_t row = 0;
    size_t slice = 0;
  };
  Mapped map(cl_mem of, cl_map_flags flags, const ImagePart& part, cl_int expected = CL_SUCCESS) {
    Mapped mapped;
    cl_int err = CL_SUCCESS;
    mapped.pointer = static_cast<unsigned char*>(
        ::clEnqueueMapImage(queue, of, CL_TRUE, flags, part.origin.data(), part.region.data(), &mapped.row,
                            &mapped.slice, 0, nullptr, nullptr, &err));
    EXPECT_EQ(expected, err);
    EXPECT_EQ(err == CL_SUCCESS, mapped.pointer != nullptr);
    return mapped;
  }
  void unmap(cl_mem of, const Mapped& mapped) {
    EXPECT_CL(clEnqueueUnmapMemObject(queue, of, mapped.pointer, 0, nullptr, nullptr));
  }
  /// The beginning of a row of a mapped part. Each layer of a 1D array counts as a slice.
  static unsigned char* row_of(const ImageShape& shape, const Mapped& mapped, size_t y, size_t z) {
    return shape.type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? mapped.pointer + y * mapped.slice
                                                     : mapped.pointer + z * mapped.slice + y * mapped.row;
  }
  const ImageShape shape_2d = {"2D", CL_MEM_OBJECT_IMAGE2D, {9, 7, 1}};
};

TEST_F(clEnqueueMapImage, GivenPartOfEachTypeForReadingThenItsPixels) {
  for (const ImageShape& shape : image_shapes()) {
    SCOPED_TRACE(shape.name);
    const Bytes contents = numbered_bytes(bytes_of(shape.size));
    const Mem made = image(shape, &contents);
    const ImagePart part = part_of(shape);
    const Mapped mapped = map(made, CL_MAP_READ, part);
    ASSERT_NE(nullptr, mapped.pointer);
    EXPECT_GE(mapped.row, part.region[0] * kPixel);
    Bytes expected(bytes_of(part.region));
    copy_rect(contents, pixels_at(part.origin, shape.size), expected, {}, in_bytes(part.region));
    Bytes seen;
    for (size_t z = 0; z < part.region[2]; ++z) {
      for (size_t y = 0; y < part.region[1]; ++y) {
        const unsigned char* row = row_of(shape, mapped, y, z);
        seen.insert(seen.end(), row, row + part.region[0] * kPixel);
      }
    }
    EXPECT_EQ(expected, seen);
    unmap(made, mapped);
    EXPECT_EQ(contents, read_image(made, shape.size));
  }
}

TEST_F(clEnqueueMapImage, GivenPartOfEachTypeForWritingThenOnlyItChanges) {
  for (const ImageShape& shape : image_shapes()) {
    for (const cl_map_flags flags :
         {cl_map_flags{CL_MAP_WRITE}, cl_map_flags{CL_MAP_WRITE_INVALIDATE_REGION}}) {
      SCOPED_TRACE(shape.name);
      Bytes expected(bytes_of(shape.size), 0xA5);
      const Mem made = image(shape, &expected);
      const ImagePart part = part_of(shape);
      const Bytes pixels = numbered_bytes(bytes_of(part.region));
      copy_rect(pixels, {}, expected, pixels_at(part.origin, shape.size), in_bytes(part.region));
      const Mapped mapped = map(made, flags, part);
      ASSERT_NE(nullptr, mapped.pointer);
      const size_t width = part.region[0] * kPixel;
      for (size_t z = 0; z < part.region[2]; ++z) {
        for (size_t y = 0; y < part.region[1]; ++y)
          std::copy_n(pixels.data() + (z * part.region[1] + y) * width, width, row_of(shape, mapped, y, z));
      }
      unmap(made, mapped);
      EXPECT_EQ(expected, read_image(made, shape.size));
    }
  }
}

TEST_F(clEnqueueMapImage, GivenFlatImageThenSlicePitchIsZeroAndMayBeLeftOut) {
  const Mem made = image(shape_2d);
  const ImagePart whole = {{0, 0, 0}, shape_2d.size};
  const Mapped mapped = map(made, CL_MAP_READ, whole);
  EXPECT_EQ(0U, mapped.slice);
  unmap(made, mapped);
  size_t row = 0;
  cl_int err = CL_SUCCESS;
  void* pointer = ::clEnqueueMapImage(queue, made, CL_TRUE, CL_MAP_READ, whole.origin.data(),
                                      whole.region.data(), &row, nullptr, 0, nullptr, nullptr, &err);
  EXPECT_EQ(CL_SUCCESS, err);
  EXPECT_CL(clEnqueueUnmapMemObject(queue, made, pointer, 0, nullptr, nullptr));
}

TEST_F(clEnqueueMapImage, GivenUsedHostMemoryThenPointerIsInItWithItsPitch) {
  cl_image_desc desc = image_desc(shape_2d);
  desc.image_row_pitch = 48;
  Bytes host = numbered_bytes(48 * 7);
  cl_int err = CL_SUCCESS;
  const Mem made(clCreateImage(context, CL_MEM_USE_HOST_PTR, &kRgba8, &desc, host.data(), &err));
  ASSERT_EQ(CL_SUCCESS, err);
  const Mapped mapped = map(made, CL_MAP_READ | CL_MAP_WRITE, {{2, 3, 0}, {4, 2, 1}});
  EXPECT_EQ(host.data() + 3 * 48 + 2 * kPixel, mapped.pointer);
  EXPECT_EQ(48U, mapped.row);
  unmap(made, mapped);
}

TEST_F(clEnqueueMapImage, GivenOverlappingReadsThenMapCountRises) {
  const Bytes contents = numbered_bytes(bytes_of(shape_2d.size));
  const Mem made = image(shape_2d, &contents);
  const ImagePart whole = {{0, 0, 0}, shape_2d.size};
  const Mapped first = map(made, CL_MAP_READ, whole);
  const Mapped second = map(made, CL_MAP_READ, {{1, 1, 0}, {2, 2, 1}});
  EXPECT_EQ(2U, info<cl_uint>(clGetMemObjectInfo, made.get(), CL_MEM_MAP_COUNT));
  EXPECT_EQ(contents[0], first.pointer[0]);
  EXPECT_EQ(contents[(9 + 1) * kPixel], second.pointer[0]);
  unmap(made, first);
  unmap(made, second);
  ASSERT_CL(clFinish(queue));
  EXPECT_EQ(0U, info<cl_uint>(clGetMemObjectInfo, made.get(), CL_MEM_MAP_COUNT));
}

TEST_F(clEnqueueMapImage, GivenOverlappingWritesThenInvalidOperation) {
  const Mem made = image(shape_2d);
  const Mapped first = map(made, CL_MAP_WRITE, {{0, 0, 0}, {4, 4, 1}});
  map(made, CL_MAP_WRITE, {{3, 3, 0}, {4, 4, 1}}, CL_INVALID_OPERATION);
  unmap(made, first);
}

TEST_F(clEnqueueMapImage, GivenPartOutsideTheImageThenInvalidValue) {
  for (const ImageShape& shape : image_shapes()) {
    const Mem made = image(shape);
    for (const BadImagePart& bad : bad_parts(shape)) {
      SCOPED_TRACE(std::string(shape.name) + ": " + bad.why);
      map(made, CL_MAP_READ, bad.part, CL_INVALID_VALUE);
    }
  }
}

TEST_F(clEnqueueMapImage, GivenNullArgumentsThenInvalidValue) {
  const Mem flat = image(shape_2d);
  const Size3 origin = {0, 0, 0};
  const Size3 region = {1, 1, 1};
  size_t row = 0;
  size_t slice = 0;
  const auto call = [&](cl_mem of, const size_t* at, const size_t* part, size_t* row_out, size_t* slice_out) {
    cl_int err = CL_SUCCESS;
    EXPECT_EQ(nullptr, ::clEnqueueMapImage(queue, of, CL_TRUE, CL_MAP_READ, at, part, row_out, slice_out, 0,
                                           nullptr, nullptr, &err));
    return err;
  };
  EXPECT_EQ(CL_INVALID_VALUE, call(flat, nullptr, region.data(), &row, &slice));
  EXPECT_EQ(CL_INVALID_VALUE, call(flat, origin.data(), nullptr, &row, &slice));
  EXPECT_EQ(CL_INVALID_VALUE, call(flat, origin.data(), region.data(), nullptr, &slice));
  for (const ImageShape& shape : image_shapes()) {
    if (shape.type == CL_MEM_OBJECT_IMAGE1D || shape.type == CL_MEM_OBJECT_IMAGE2D) continue;
    const Mem layered = image(shape);
    EXPECT_EQ(CL_INVALID_VALUE, call(layered, origin.data(), region.data(), &row, nullptr)) << shape.name;
  }
}

TEST_F(clEnqueueMapImage, GivenBadFlagsThenInvalidValue) {
  const Mem made = image(shape_2d);
  const ImagePart part = {{0, 0, 0}, {1, 1, 1}};
  map(made, CL_MAP_READ | CL_MAP_WRITE_INVALIDATE_REGION, part, CL_INVALID_VALUE);
  map(made, CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION, part, CL_INVALID_VALUE);
  map(made, cl_map_flags{1} << 20, part, CL_INVALID_VALUE);
}

TEST_F(clEnqueueMapImage, GivenImageClosedToTheHostThenInvalidOperation) {
  const ImagePart part = {{0, 0, 0}, {1, 1, 1}};
  for (const cl_mem_flags flags : {CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_NO_ACCESS}) {
    map(image(shape_2d, nullptr, kRgba8, flags), CL_MAP_READ, part, CL_INVALID_OPERATION);
  }
  for (const cl_mem_flags flags : {CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_NO_ACCESS}) {
    const Mem closed = image(shape_2d, nullptr, kRgba8, flags);
    map(closed, CL_MAP_WRITE, part, CL_INVALID_OPERATION);
    map(closed, CL_MAP_WRITE_INVALIDATE_REGION, part, CL_INVALID_OPERATION);
  }
}

TEST_F(clEnqueueMapImage, GivenObjectThatIsNoImageThenInvalidMemObject) {
  const Mem a_buffer = buffer<unsigned char>(1024);
  for (const cl_mem bad : no_images(a_buffer)) {
    map(bad, CL_MAP_READ, {{0, 0, 0}, {1, 1, 1}}, CL_INVALID_MEM_OBJECT);
  }
}

TEST_F(clEnqueueMapImage, GivenCallThenRulesOfEveryEnqueueHold) {
  const Mem made = image(shape_2d);
  const Size3 origin = {0, 0, 0};
  std::vector<Mapped> all;
  expect_enqueue_rules(context, device, CL_COMMAND_MAP_IMAGE,
                       [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
                         cl_int err = CL_SUCCESS;
                         Mapped mapped;
                         mapped.pointer = static_cast<unsigned char*>(::clEnqueueMapImage(
                             on, made, CL_FALSE, CL_MAP_READ, origin.data(), shape_2d.size.data(),
                             &mapped.row, &mapped.slice, count, list, event, &err));
                         if (err == CL_SUCCESS) all.push_back(mapped);
                         return err;
                       });
  EXPECT_EQ(2U, all.size());
  for (const Mapped& mapped : all) unmap(made, mapped);
}

TEST_F(clEnqueueMapImage, GivenFailedEventInWaitListThenBlockingMapReportsIt) {
  const Mem made = image(shape_2d);
  const Size3 origin = {0, 0, 0};
  expect_blocking_reports_failed_event(
      context, device, [&](cl_command_queue on, cl_uint count, const cl_event* list, cl_event* event) {
        cl_int err = CL_SUCCESS;
        size_t row = 0;
        EXPECT_EQ(nullptr,
                  ::clEnqueueMapImage(on, made, CL_TRUE, CL_MAP_READ, origin.data(), shape_2d.size.data(),
                                      &row, nullptr, count, list, event, &err));
        return err;
      });
}

}  // namespace clique::test::suite_clEnqueueMapImage
