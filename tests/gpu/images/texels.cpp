#include "texels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace clique::test {

namespace {

struct Order {
  cl_channel_order order;
  const char* name;
  std::vector<int> components;
  bool has_alpha_border;  ///< whether the border colour's alpha is 0 instead of 1; also for depth
};

const std::vector<Order>& orders() {
  static const std::vector<Order> all = {
      {CL_R, "R", {0}, false},
      {CL_A, "A", {3}, true},
      {CL_RG, "RG", {0, 1}, false},
      {CL_RA, "RA", {0, 3}, true},
      {CL_Rx, "Rx", {0}, true},
      {CL_RGx, "RGx", {0, 1}, true},
      {CL_RGBA, "RGBA", {0, 1, 2, 3}, true},
      {CL_BGRA, "BGRA", {2, 1, 0, 3}, true},
      {CL_ARGB, "ARGB", {3, 0, 1, 2}, true},
      {CL_ABGR, "ABGR", {3, 2, 1, 0}, true},
      {CL_INTENSITY, "INTENSITY", {0}, true},
      {CL_LUMINANCE, "LUMINANCE", {0}, false},
      {CL_DEPTH, "DEPTH", {0}, false},
      {CL_sRGBA, "sRGBA", {0, 1, 2, 3}, true},
      {CL_sBGRA, "sBGRA", {2, 1, 0, 3}, true},
  };
  return all;
}

struct Type {
  cl_channel_type type;
  const char* name;
  size_t bytes;
  Numbers numbers;
  double range;  ///< for normalised numbers the value that stands for 1; else 0
};

const std::vector<Type>& types() {
  static const std::vector<Type> all = {
      {CL_SNORM_INT8, "SNORM_INT8", 1, Numbers::Float, 127},
      {CL_SNORM_INT16, "SNORM_INT16", 2, Numbers::Float, 32767},
      {CL_UNORM_INT8, "UNORM_INT8", 1, Numbers::Float, 255},
      {CL_UNORM_INT16, "UNORM_INT16", 2, Numbers::Float, 65535},
      {CL_SIGNED_INT8, "SIGNED_INT8", 1, Numbers::Signed, 0},
      {CL_SIGNED_INT16, "SIGNED_INT16", 2, Numbers::Signed, 0},
      {CL_SIGNED_INT32, "SIGNED_INT32", 4, Numbers::Signed, 0},
      {CL_UNSIGNED_INT8, "UNSIGNED_INT8", 1, Numbers::Unsigned, 0},
      {CL_UNSIGNED_INT16, "UNSIGNED_INT16", 2, Numbers::Unsigned, 0},
      {CL_UNSIGNED_INT32, "UNSIGNED_INT32", 4, Numbers::Unsigned, 0},
      {CL_HALF_FLOAT, "HALF_FLOAT", 2, Numbers::Float, 0},
      {CL_FLOAT, "FLOAT", 4, Numbers::Float, 0},
  };
  return all;
}

template <typename List, typename Matches>
auto find(const List& list, Matches matches) {
  return std::find_if(list.begin(), list.end(), matches);
}

const Order* order_of(const cl_image_format& format) {
  const auto found = find(orders(), [&](const Order& o) { return o.order == format.image_channel_order; });
  return found == orders().end() ? nullptr : &*found;
}
const Type* type_of(const cl_image_format& format) {
  const auto found = find(types(), [&](const Type& t) { return t.type == format.image_channel_data_type; });
  return found == types().end() ? nullptr : &*found;
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10U & 31U;
  const double fraction = bits & 1023U;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

template <typename T>
T load(const std::uint8_t* at) {
  T number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

bool is_srgb(cl_channel_order order) {
  return order == CL_sRGBA || order == CL_sBGRA;
}

double linear_of_srgb(double c) {
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}
double srgb_of_linear(double l) {
  return l <= 0.0031308 ? l * 12.92 : 1.055 * std::pow(l, 1 / 2.4) - 0.055;
}

}  // namespace

bool Texels::is_known(const cl_image_format& format) {
  return order_of(format) != nullptr && type_of(format) != nullptr;
}

Texels::Texels(const cl_image_format& format)
    : format_(format),
      channels_(order_of(format)->components.size()),
      bytes_(type_of(format)->bytes),
      components_(order_of(format)->components) {}

Numbers Texels::numbers() const {
  return type_of(format_)->numbers;
}

std::string Texels::name() const {
  return std::string("CL_") + order_of(format_)->name + " CL_" + type_of(format_)->name;
}

double Texels::normalised_range() const {
  return type_of(format_)->range;
}

double Texels::decode_channel(const std::uint8_t* at) const {
  switch (format_.image_channel_data_type) {
    case CL_SNORM_INT8:
      return std::max(load<std::int8_t>(at) / 127.0, -1.0);
    case CL_SNORM_INT16:
      return std::max(load<std::int16_t>(at) / 32767.0, -1.0);
    case CL_UNORM_INT8:
      return load<std::uint8_t>(at) / 255.0;
    case CL_UNORM_INT16:
      return load<std::uint16_t>(at) / 65535.0;
    case CL_SIGNED_INT8:
      return load<std::int8_t>(at);
    case CL_SIGNED_INT16:
      return load<std::int16_t>(at);
    case CL_SIGNED_INT32:
      return load<std::int32_t>(at);
    case CL_UNSIGNED_INT8:
      return load<std::uint8_t>(at);
    case CL_UNSIGNED_INT16:
      return load<std::uint16_t>(at);
    case CL_UNSIGNED_INT32:
      return load<std::uint32_t>(at);
    case CL_HALF_FLOAT:
      return half_value(load<std::uint16_t>(at));
    default:
      return load<float>(at);
  }
}

Colour Texels::decode(const std::uint8_t* texel) const {
  Colour colour = {0, 0, 0, 1};
  for (size_t i = 0; i < channels_; ++i) {
    double number = decode_channel(texel + i * bytes_);
    if (is_srgb(format_.image_channel_order) && components_[i] != 3) number = linear_of_srgb(number);
    colour[static_cast<size_t>(components_[i])] = number;
  }
  if (format_.image_channel_order == CL_INTENSITY) colour = {colour[0], colour[0], colour[0], colour[0]};
  if (format_.image_channel_order == CL_LUMINANCE) colour = {colour[0], colour[0], colour[0], 1};
  return colour;
}

Colour Texels::border() const {
  return {0, 0, 0, order_of(format_)->has_alpha_border ? 0.0 : 1.0};
}

bool Texels::may_encode(const std::uint8_t* texel, const Colour& colour) const {
  for (size_t i = 0; i < channels_; ++i) {
    const double wanted = colour[static_cast<size_t>(components_[i])];
    const double got = decode_channel(texel + i * bytes_);
    const double range = normalised_range();
    if (range != 0) {
      const double least = format_.image_channel_data_type == CL_SNORM_INT8 ||
                                   format_.image_channel_data_type == CL_SNORM_INT16
                               ? -1
                               : 0;
      if (std::abs(std::clamp(wanted, least, 1.0) - got) * range > 0.6) return false;
    } else if (format_.image_channel_data_type == CL_HALF_FLOAT) {
      if (std::abs(wanted - got) > std::ldexp(1.0, std::max(std::ilogb(wanted), -14) - 10)) return false;
    } else if (format_.image_channel_data_type == CL_FLOAT) {
      if (wanted != got) return false;
    } else {
      const double bits = static_cast<double>(bytes_ * 8);
      const bool is_signed = numbers() == Numbers::Signed;
      const double low = is_signed ? -std::exp2(bits - 1) : 0;
      const double high = std::exp2(is_signed ? bits - 1 : bits) - 1;
      if (std::clamp(wanted, low, high) != got) return false;
    }
  }
  return true;
}

double Texels::tolerance(double expected, size_t component) const {
  if (is_srgb(format_.image_channel_order) && component != 3) {
    // Half a step of the encoded number. The steps grow with the number.
    const double encoded = srgb_of_linear(std::max(expected, 0.0));
    return linear_of_srgb(encoded + 0.5 / 255) - linear_of_srgb(encoded);
  }
  // 1.5 units in the last place of a float.
  return normalised_range() != 0 ? std::max(std::abs(expected), 1.0 / 65535) * 1.5 * std::exp2(-23.0) : 0;
}

void Texels::fill(std::uint8_t* texel, std::uint64_t random) const {
  for (size_t i = 0; i < channels_; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t bits = random >> 24U;
    std::uint32_t number = static_cast<std::uint32_t>(bits);
    // Exponents from 2^-6 to 2^1.
    if (format_.image_channel_data_type == CL_HALF_FLOAT)
      number = (number & 0x83ffU) | ((9 + (number >> 16U) % 8) << 10U);
    else if (format_.image_channel_data_type == CL_FLOAT)
      number = (number & 0x807fffffU) | ((121 + static_cast<std::uint32_t>(bits >> 32U) % 8) << 23U);
    std::memcpy(texel + i * bytes_, &number, bytes_);
  }
}

}  // namespace clique::test
