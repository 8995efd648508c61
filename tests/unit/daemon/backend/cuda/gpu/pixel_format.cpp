#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "daemon/backend/cuda/gpu/pixel_format.hpp"

namespace clique::daemon::cuda {
namespace {

using Pixel = std::array<std::uint8_t, 16>;

template <typename T>
Pixel color(std::array<T, 4> values) {
  Pixel result{};
  std::memcpy(result.data(), values.data(), sizeof values);
  return result;
}

template <typename T>
std::vector<T> channels(const Pixel& pixel, std::size_t count) {
  std::vector<T> result(count);
  std::memcpy(result.data(), pixel.data(), count * sizeof(T));
  return result;
}

bool supports(cl_mem_flags access, cl_mem_object_type type, cl_channel_order order, cl_channel_type channel) {
  const auto formats = supported_formats(access, type);
  return std::find(formats.begin(), formats.end(), std::array<std::uint32_t, 2>{order, channel}) !=
         formats.end();
}

TEST(PixelFormats, GivenTheSpecificationsLeastThenAllAreSupported) {
  constexpr cl_channel_type kTypes[] = {CL_UNORM_INT8,     CL_UNORM_INT16,   CL_SNORM_INT8,
                                        CL_SNORM_INT16,    CL_SIGNED_INT8,   CL_SIGNED_INT16,
                                        CL_SIGNED_INT32,   CL_UNSIGNED_INT8, CL_UNSIGNED_INT16,
                                        CL_UNSIGNED_INT32, CL_HALF_FLOAT,    CL_FLOAT};
  for (const cl_mem_flags access : {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY, CL_MEM_KERNEL_READ_AND_WRITE})
    for (const cl_mem_object_type type :
         {CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE3D,
          CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D_ARRAY}) {
      for (const cl_channel_order order : {CL_R, CL_RG, CL_RGBA})
        for (const cl_channel_type channel : kTypes) EXPECT_TRUE(supports(access, type, order, channel));
      EXPECT_TRUE(supports(access, type, CL_BGRA, CL_UNORM_INT8));
    }
  EXPECT_TRUE(supports(CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, CL_DEPTH, CL_FLOAT));
  EXPECT_TRUE(supports(CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, CL_sRGBA, CL_UNORM_INT8));
  EXPECT_FALSE(supports(CL_MEM_WRITE_ONLY, CL_MEM_OBJECT_IMAGE2D, CL_sRGBA, CL_UNORM_INT8));
  EXPECT_FALSE(supports(CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE3D, CL_DEPTH, CL_FLOAT));
  EXPECT_FALSE(supports(CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D, CL_BGRA, CL_FLOAT));
}

TEST(PixelFormats, GivenAFormatThenItsSize) {
  EXPECT_EQ(pixel_format(CL_RGBA, CL_FLOAT)->element_size(), 16U);
  EXPECT_EQ(pixel_format(CL_RG, CL_HALF_FLOAT)->element_size(), 4U);
  EXPECT_EQ(pixel_format(CL_LUMINANCE, CL_UNORM_INT8)->element_size(), 1U);
  EXPECT_FALSE(pixel_format(CL_RGB, CL_UNORM_SHORT_565));
  EXPECT_FALSE(pixel_format(CL_DEPTH, CL_UNORM_INT8));
  EXPECT_TRUE(pixel_format(CL_R, CL_SIGNED_INT8)->integer);
  EXPECT_TRUE(pixel_format(CL_sRGBA, CL_UNORM_INT8)->srgb);
}

TEST(Pixels, GivenColoursThenNormalisedChannelsRoundAndClamp) {
  const auto white = color<float>({1.0F, 0.5F, -3.0F, 2.0F});
  EXPECT_EQ(channels<std::uint8_t>(make_pixel(CL_RGBA, CL_UNORM_INT8, white), 4),
            (std::vector<std::uint8_t>{255, 128, 0, 255}));
  EXPECT_EQ(channels<std::int16_t>(make_pixel(CL_RGBA, CL_SNORM_INT16, white), 4),
            (std::vector<std::int16_t>{32767, 16384, -32767, 32767}));
  EXPECT_EQ(channels<std::uint8_t>(make_pixel(CL_BGRA, CL_UNORM_INT8, white), 4),
            (std::vector<std::uint8_t>{0, 128, 255, 255}));
  EXPECT_EQ(channels<std::uint8_t>(make_pixel(CL_ARGB, CL_UNORM_INT8, white), 4),
            (std::vector<std::uint8_t>{255, 255, 128, 0}));
  EXPECT_EQ(channels<std::uint16_t>(make_pixel(CL_A, CL_UNORM_INT16, white), 1),
            (std::vector<std::uint16_t>{65535}));
  EXPECT_EQ(channels<std::uint8_t>(make_pixel(CL_R, CL_UNORM_INT8, color<float>({NAN, 0, 0, 0})), 1),
            (std::vector<std::uint8_t>{0}));
}

TEST(Pixels, GivenIntegersThenTheySaturate) {
  EXPECT_EQ(channels<std::int8_t>(
                make_pixel(CL_RGBA, CL_SIGNED_INT8, color<std::int32_t>({-1000, -5, 5, 1000})), 4),
            (std::vector<std::int8_t>{-128, -5, 5, 127}));
  EXPECT_EQ(channels<std::uint16_t>(
                make_pixel(CL_RG, CL_UNSIGNED_INT16, color<std::uint32_t>({70000, 5, 0, 0})), 2),
            (std::vector<std::uint16_t>{65535, 5}));
  EXPECT_EQ(channels<std::uint32_t>(
                make_pixel(CL_R, CL_UNSIGNED_INT32, color<std::uint32_t>({0xFFFFFFFF, 0, 0, 0})), 1),
            (std::vector<std::uint32_t>{0xFFFFFFFF}));
}

TEST(Pixels, GivenHalvesThenNearestEven) {
  const auto half = [](float value) {
    return channels<std::uint16_t>(make_pixel(CL_R, CL_HALF_FLOAT, color<float>({value, 0, 0, 0})), 1)[0];
  };
  EXPECT_EQ(half(0.0F), 0U);
  EXPECT_EQ(half(-0.0F), 0x8000U);
  EXPECT_EQ(half(1.0F), 0x3C00U);
  EXPECT_EQ(half(-2.0F), 0xC000U);
  EXPECT_EQ(half(65504.0F), 0x7BFFU);
  EXPECT_EQ(half(65520.0F), 0x7C00U);
  EXPECT_EQ(half(1e-7F), 0x0002U);
  EXPECT_EQ(half(6.1035156e-5F), 0x0400U);
  EXPECT_EQ(half(1.0F + 1.0F / 2048), 0x3C00U);
  EXPECT_EQ(half(1.0F + 3.0F / 2048), 0x3C02U);
  EXPECT_EQ(half(0.1F), 0x2E66U);
}

TEST(Pixels, GivenSrgbThenColoursAreEncodedAndAlphaIsNot) {
  EXPECT_EQ(channels<std::uint8_t>(make_pixel(CL_sRGBA, CL_UNORM_INT8, color<float>({0.5F, 0, 1, 0.5F})), 4),
            (std::vector<std::uint8_t>{188, 0, 255, 128}));
}

}  // namespace
}  // namespace clique::daemon::cuda
