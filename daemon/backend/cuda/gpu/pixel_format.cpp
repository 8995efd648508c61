#include "daemon/backend/cuda/gpu/pixel_format.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace clique::daemon::cuda {

namespace {

struct ChannelType {
  cl_channel_type type;
  CUarray_format format;
  unsigned size;
  bool integer;
};

constexpr ChannelType kTypes[] = {
    {CL_SNORM_INT8, CU_AD_FORMAT_SIGNED_INT8, 1, false},
    {CL_SNORM_INT16, CU_AD_FORMAT_SIGNED_INT16, 2, false},
    {CL_UNORM_INT8, CU_AD_FORMAT_UNSIGNED_INT8, 1, false},
    {CL_UNORM_INT16, CU_AD_FORMAT_UNSIGNED_INT16, 2, false},
    {CL_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT8, 1, true},
    {CL_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT16, 2, true},
    {CL_SIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32, 4, true},
    {CL_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT8, 1, true},
    {CL_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT16, 2, true},
    {CL_UNSIGNED_INT32, CU_AD_FORMAT_UNSIGNED_INT32, 4, true},
    {CL_HALF_FLOAT, CU_AD_FORMAT_HALF, 2, false},
    {CL_FLOAT, CU_AD_FORMAT_FLOAT, 4, false},
};

constexpr cl_channel_order kOrders[] = {CL_R, CL_RG,        CL_RGBA,      CL_BGRA,  CL_ARGB,  CL_ABGR,
                                        CL_A, CL_INTENSITY, CL_LUMINANCE, CL_DEPTH, CL_sRGBA, CL_sBGRA};

const ChannelType* find_type(cl_channel_type type) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [type](const ChannelType& known) { return known.type == type; });
  return found == std::end(kTypes) ? nullptr : found;
}

bool is_normalized(cl_channel_type type) {
  return type == CL_SNORM_INT8 || type == CL_SNORM_INT16 || type == CL_UNORM_INT8 || type == CL_UNORM_INT16;
}

bool is_float(cl_channel_type type) {
  return type == CL_HALF_FLOAT || type == CL_FLOAT;
}

/// Whether the specification allows the combination (table 5.7).
bool go_together(cl_channel_order order, cl_channel_type type) {
  switch (order) {
    case CL_R:
    case CL_RG:
    case CL_RGBA:
    case CL_A:
      return true;
    case CL_BGRA:
    case CL_ARGB:
    case CL_ABGR:
      return type == CL_UNORM_INT8 || type == CL_SNORM_INT8 || type == CL_SIGNED_INT8 ||
             type == CL_UNSIGNED_INT8;
    case CL_INTENSITY:
    case CL_LUMINANCE:
      return is_normalized(type) || is_float(type);
    case CL_DEPTH:
      return type == CL_UNORM_INT16 || type == CL_FLOAT;
    case CL_sRGBA:
    case CL_sBGRA:
      return type == CL_UNORM_INT8;
    default:
      return false;
  }
}

unsigned channels_of(cl_channel_order order) {
  switch (order) {
    case CL_R:
    case CL_A:
    case CL_INTENSITY:
    case CL_LUMINANCE:
    case CL_DEPTH:
      return 1;
    case CL_RG:
      return 2;
    default:
      return 4;
  }
}

std::uint16_t half_bits(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
  const float magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isnan(value)) return sign | 0x7E00U;
  // The largest half is 65504. A value that would round to 65536 becomes infinite.
  if (magnitude >= 65520.0F) return sign | 0x7C00U;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // Halves below 2^-14 are multiples of 2^-24.
  const int scale = std::max(exponent, -13) - 11;
  const auto mantissa = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(magnitude, -scale)));
  return static_cast<std::uint16_t>(sign | (mantissa + (static_cast<std::uint32_t>(scale + 24) << 10U)));
}

float to_srgb(float linear) {
  if (std::isnan(linear) || linear < 0) return 0;
  if (linear > 1) return 1;
  return linear < 0.0031308F ? 12.92F * linear : 1.055F * std::pow(linear, 1 / 2.4F) - 0.055F;
}

template <typename T>
void put(std::uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <typename T>
void put_normalized(std::uint8_t* to, float value, float scale) {
  const float least = std::numeric_limits<T>::is_signed ? -1.0F : 0.0F;
  const float clamped = std::isnan(value) ? 0 : std::clamp(value, least, 1.0F);
  put(to, static_cast<T>(std::lrint(clamped * scale)));
}

template <typename T, typename Wide>
void put_integer(std::uint8_t* to, Wide value) {
  put(to,
      static_cast<T>(std::clamp<Wide>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max())));
}

void put_channel(std::uint8_t* to, cl_channel_type type, const std::uint8_t* from) {
  float real = 0;
  std::int32_t number = 0;
  std::uint32_t natural = 0;
  std::memcpy(&real, from, sizeof real);
  std::memcpy(&number, from, sizeof number);
  std::memcpy(&natural, from, sizeof natural);
  switch (type) {
    case CL_SNORM_INT8:
      return put_normalized<std::int8_t>(to, real, 127);
    case CL_SNORM_INT16:
      return put_normalized<std::int16_t>(to, real, 32767);
    case CL_UNORM_INT8:
      return put_normalized<std::uint8_t>(to, real, 255);
    case CL_UNORM_INT16:
      return put_normalized<std::uint16_t>(to, real, 65535);
    case CL_SIGNED_INT8:
      return put_integer<std::int8_t>(to, number);
    case CL_SIGNED_INT16:
      return put_integer<std::int16_t>(to, number);
    case CL_SIGNED_INT32:
      return put(to, number);
    case CL_UNSIGNED_INT8:
      return put_integer<std::uint8_t>(to, natural);
    case CL_UNSIGNED_INT16:
      return put_integer<std::uint16_t>(to, natural);
    case CL_UNSIGNED_INT32:
      return put(to, natural);
    case CL_HALF_FLOAT:
      return put(to, half_bits(real));
    default:
      return put(to, real);
  }
}

/// For each channel, the component of the colour that it holds.
std::array<unsigned, 4> components(cl_channel_order order) {
  switch (order) {
    case CL_A:
      return {3, 3, 3, 3};
    case CL_BGRA:
    case CL_sBGRA:
      return {2, 1, 0, 3};
    case CL_ARGB:
      return {3, 0, 1, 2};
    case CL_ABGR:
      return {3, 2, 1, 0};
    default:
      return {0, 1, 2, 3};
  }
}

}  // namespace

std::optional<PixelFormat> pixel_format(cl_channel_order order, cl_channel_type type) {
  const ChannelType* channel = find_type(type);
  if (channel == nullptr || !go_together(order, type)) return std::nullopt;
  PixelFormat result;
  result.format = channel->format;
  result.channels = channels_of(order);
  result.channel_size = channel->size;
  result.integer = channel->integer;
  result.srgb = order == CL_sRGBA || order == CL_sBGRA;
  result.opaque_border = order == CL_R || order == CL_RG || order == CL_LUMINANCE || order == CL_DEPTH;
  return result;
}

std::vector<std::array<std::uint32_t, 2>> supported_formats(cl_mem_flags access, cl_mem_object_type type) {
  std::vector<std::array<std::uint32_t, 2>> result;
  const bool planar = type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
  for (const cl_channel_order order : kOrders) {
    if (order == CL_DEPTH && (!planar || access == CL_MEM_KERNEL_READ_AND_WRITE)) continue;
    // sRGB images are read-only (there is no cl_khr_srgb_image_writes) and need a texture, which linear
    // memory lacks.
    if ((order == CL_sRGBA || order == CL_sBGRA) &&
        (access != CL_MEM_READ_ONLY || type == CL_MEM_OBJECT_IMAGE1D_BUFFER))
      continue;
    for (const ChannelType& channel : kTypes)
      if (go_together(order, channel.type)) result.push_back({order, channel.type});
  }
  return result;
}

std::array<std::uint8_t, 16> make_pixel(cl_channel_order order, cl_channel_type type,
                                        const std::array<std::uint8_t, 16>& color) {
  std::array<std::uint8_t, 16> source = color;
  if (order == CL_sRGBA || order == CL_sBGRA)
    for (std::size_t i = 0; i < 3; ++i) {
      float linear = 0;
      std::memcpy(&linear, &source[i * sizeof linear], sizeof linear);
      put(&source[i * sizeof linear], to_srgb(linear));
    }
  std::array<std::uint8_t, 16> pixel{};
  const auto format = pixel_format(order, type);
  if (!format) return pixel;
  const auto from = components(order);
  for (unsigned i = 0; i < format->channels; ++i)
    put_channel(&pixel[std::size_t{i} * format->channel_size], type, &source[std::size_t{from[i]} * 4]);
  return pixel;
}

}  // namespace clique::daemon::cuda
