// Image formats as the specification describes them: texels in memory, and the numbers that kernels see.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace clique::test {

/// Which of read_imagef, read_imagei and read_imageui reads a format.
enum class Numbers { Float, Signed, Unsigned };

/// Red, green, blue and alpha. A double holds the numbers of all formats.
using Colour = std::array<double, 4>;

/// One format: sizes, and the conversions in both directions.
class Texels {
 public:
  /// Formats that no device offers to these tests are not supported (is_known()).
  explicit Texels(const cl_image_format& format);

  static bool is_known(const cl_image_format& format);

  size_t size() const { return channels_ * bytes_; }
  Numbers numbers() const;
  std::string name() const;

  /// The colour of a texel in memory, with 0 for missing colours and 1 for a missing alpha.
  Colour decode(const std::uint8_t* texel) const;
  /// The colour outside of the image with CL_ADDRESS_CLAMP (§5.7.1 of the API's specification).
  Colour border() const;

  /// Whether writing `colour` may result in `texel`, with the rounding that the specification allows (§8.3).
  bool may_encode(const std::uint8_t* texel, const Colour& colour) const;

  /// The largest absolute difference allowed between a component that was read and decode().
  double tolerance(double expected, size_t component) const;

  /// A texel with bits from `random`. Floating-point numbers in it are finite, not denormal, and at most 4 in
  /// size.
  void fill(std::uint8_t* texel, std::uint64_t random) const;

 private:
  double decode_channel(const std::uint8_t* at) const;
  double normalised_range() const;

  cl_image_format format_;
  size_t channels_ = 0;
  size_t bytes_ = 0;
  /// For each channel in memory, the index of the colour's component.
  std::vector<int> components_;
};

}  // namespace clique::test
