// The fixture of the image tests: one small image of every type, and its content computed on the host.
#pragma once

#include "rects.hpp"

namespace clique::test {

struct ImageShape {
  const char* name;
  cl_mem_object_type type;
  Size3 size;  ///< the region of the whole image; layers of a 1D array are in [1], of others in [2]
};

/// One shape for every type, except for images made from a buffer, which have tests of their own.
inline const std::vector<ImageShape>& image_shapes() {
  static const std::vector<ImageShape> shapes = {
      {"1D", CL_MEM_OBJECT_IMAGE1D, {9, 1, 1}}, {"1D array", CL_MEM_OBJECT_IMAGE1D_ARRAY, {9, 5, 1}},
      {"2D", CL_MEM_OBJECT_IMAGE2D, {9, 7, 1}}, {"2D array", CL_MEM_OBJECT_IMAGE2D_ARRAY, {9, 7, 5}},
      {"3D", CL_MEM_OBJECT_IMAGE3D, {9, 7, 5}},
  };
  return shapes;
}

inline cl_image_desc image_desc(const ImageShape& shape) {
  cl_image_desc desc = {};
  desc.image_type = shape.type;
  desc.image_width = shape.size[0];
  switch (shape.type) {
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
      desc.image_array_size = shape.size[1];
      break;
    case CL_MEM_OBJECT_IMAGE2D:
      desc.image_height = shape.size[1];
      break;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
      desc.image_height = shape.size[1];
      desc.image_array_size = shape.size[2];
      break;
    case CL_MEM_OBJECT_IMAGE3D:
      desc.image_height = shape.size[1];
      desc.image_depth = shape.size[2];
      break;
    default:
      break;
  }
  return desc;
}

/// A four-byte format that every device with images has to support for every type.
constexpr cl_image_format kRgba8 = {CL_RGBA, CL_UNSIGNED_INT8};
constexpr size_t kPixel = 4;

inline size_t bytes_of(const Size3& region, size_t pixel = kPixel) {
  return region[0] * region[1] * region[2] * pixel;
}

/// The rectangle of bytes that a part of an image covers in the image's tightly packed content.
inline Rect pixels_at(const Size3& origin, const Size3& image_size, size_t pixel = kPixel) {
  return {{origin[0] * pixel, origin[1], origin[2]},
          image_size[0] * pixel,
          image_size[0] * image_size[1] * pixel};
}
inline Size3 in_bytes(const Size3& region, size_t pixel = kPixel) {
  return {region[0] * pixel, region[1], region[2]};
}

/// A part of an image that leaves out its border in each dimension that the image has.
struct ImagePart {
  Size3 origin;
  Size3 region;
};
inline ImagePart part_of(const ImageShape& shape) {
  ImagePart part;
  for (size_t i = 0; i < 3; ++i) {
    part.origin[i] = shape.size[i] > 1 ? 1 : 0;
    part.region[i] = shape.size[i] > 1 ? shape.size[i] - 2 : 1;
  }
  return part;
}

/// A part that is invalid for an image, and why.
struct BadImagePart {
  const char* why;
  ImagePart part;
};
inline std::vector<BadImagePart> bad_parts(const ImageShape& shape) {
  const auto& size = shape.size;
  std::vector<BadImagePart> parts = {
      {"no width", {{0, 0, 0}, {0, 1, 1}}},
      {"no height", {{0, 0, 0}, {1, 0, 1}}},
      {"no depth", {{0, 0, 0}, {1, 1, 0}}},
      {"too wide", {{0, 0, 0}, {size[0] + 1, 1, 1}}},
      {"too far right", {{size[0], 0, 0}, {1, 1, 1}}},
      {"too high", {{0, 0, 0}, {1, size[1] + 1, 1}}},
      {"too far down", {{0, size[1], 0}, {1, 1, 1}}},
      {"too deep", {{0, 0, 0}, {1, 1, size[2] + 1}}},
      {"too far back", {{0, 0, size[2]}, {1, 1, 1}}},
      {"the right side wraps around", {{2, 0, 0}, {SIZE_MAX, 1, 1}}},
      {"the lower side wraps around", {{0, SIZE_MAX, 0}, {1, 2, 1}}},
      {"the back wraps around", {{0, 0, SIZE_MAX}, {1, 1, 2}}},
  };
  return parts;
}

class ImageTest : public ApiTest {
 protected:
  /// Uses the first device that supports images.
  void SetUp() override {
    ApiTest::SetUp();
    for (const cl_device_id each : devices()) {
      if (!info<cl_bool>(clGetDeviceInfo, each, CL_DEVICE_IMAGE_SUPPORT)) continue;
      device = each;
      queue = make_queue(0, device);
      return;
    }
    GTEST_SKIP() << "no device supports images";
  }
  static std::vector<cl_device_id> image_devices() {
    std::vector<cl_device_id> result;
    for (const cl_device_id each : devices()) {
      if (info<cl_bool>(clGetDeviceInfo, each, CL_DEVICE_IMAGE_SUPPORT)) result.push_back(each);
    }
    return result;
  }
  Mem image(const ImageShape& shape, const Bytes* contents = nullptr, const cl_image_format& format = kRgba8,
            cl_mem_flags flags = CL_MEM_READ_WRITE) {
    const cl_image_desc desc = image_desc(shape);
    cl_int err = CL_SUCCESS;
    Mem result(
        clCreateImage(context, flags | (contents != nullptr ? CL_MEM_COPY_HOST_PTR : 0), &format, &desc,
                      contents != nullptr ? const_cast<unsigned char*>(contents->data()) : nullptr, &err));
    EXPECT_EQ(CL_SUCCESS, err) << shape.name;
    return result;
  }
  /// A one-dimensional image of `width` pixels in `store`, which is a buffer.
  Mem image_of(cl_mem store, size_t width) {
    cl_image_desc desc = {};
    desc.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
    desc.image_width = width;
    desc.buffer = store;
    cl_int err = CL_SUCCESS;
    Mem result(clCreateImage(context, CL_MEM_READ_WRITE, &kRgba8, &desc, nullptr, &err));
    EXPECT_EQ(CL_SUCCESS, err);
    return result;
  }
  /// The content of the whole image, tightly packed.
  Bytes read_image(cl_mem of, const Size3& size, size_t pixel = kPixel) {
    const Size3 origin = {0, 0, 0};
    Bytes bytes(bytes_of(size, pixel));
    EXPECT_CL(clEnqueueReadImage(queue, of, CL_TRUE, origin.data(), size.data(), 0, 0, bytes.data(), 0,
                                 nullptr, nullptr));
    return bytes;
  }
  std::vector<cl_image_format> formats(cl_mem_flags flags, cl_mem_object_type type) {
    cl_uint count = 0;
    EXPECT_CL(clGetSupportedImageFormats(context, flags, type, 0, nullptr, &count));
    std::vector<cl_image_format> result(count);
    if (count > 0) {
      EXPECT_CL(clGetSupportedImageFormats(context, flags, type, count, result.data(), nullptr));
    }
    return result;
  }
  /// Objects that are not images, for the clauses about them.
  std::vector<cl_mem> no_images(const Mem& a_buffer) {
    return {nullptr, foreign_handle<cl_mem>(), a_buffer.get()};
  }
};

}  // namespace clique::test
