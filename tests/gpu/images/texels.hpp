// Image formats as the specification describes them: texels in memory, and the numbers that kernels see.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace clique::test {

/// Which of read_imagef, read_imagei and read_imageui a format is for.
enum class Numbers { Float, Signed, Unsigned };

/// Red, green, blue and alpha. A double holds every number that there may be.
using Colour = std::array<double, 4>;

/// One format: sizes, and both directions of conversion.
class Texels {
 public:
  /// Formats that no device offers for tests of these are not known (is_known()).
  explicit Texels(const cl_image_format& format);

  static bool is_known(const cl_image_format& format);

  size_t size() const { return channels_ * bytes_; }
  Numbers numbers() const;
  std::string name() const;

  /// What is in memory, with 0 for missing colours and 1 for a missing alpha.
  Colour decode(const std::uint8_t* texel) const;
  /// What reading outside of the image gives with CL_ADDRESS_CLAMP (§5.7.1 of the API's specification).
  Colour border() const;

  /// Whether `texel` is what writing `colour` may leave, with the specification's freedom in rounding (§8.3).
  bool may_encode(const std::uint8_t* texel, const Colour& colour) const;

  /// How far a component of a colour that was read may be from decode(): absolute.
  double tolerance(double expected, size_t component) const;

  /// A texel with bits from `random`, whose numbers are finite and not denormal, and at most 4 in size where
  /// they are floating-point numbers.
  void fill(std::uint8_t* texel, std::uint64_t random) const;

 private:
  double decode_channel(const std::uint8_t* at) const;
  double normalised_range() const;

  cl_image_format format_;
  size_t channels_ = 0;
  size_t bytes_ = 0;
  /// For each channel in memory, the component of the colour that it is.
  std::vector<int> components_;
};

}  // namespace clique::test
