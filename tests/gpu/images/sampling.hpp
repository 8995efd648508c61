// Reading images by the specification's formulas (§8.2 of the OpenCL C specification).
#pragma once

#include <functional>

#include "texels.hpp"

namespace clique::test {

struct SamplerState {
  bool normalised = false;
  cl_addressing_mode addressing = CL_ADDRESS_NONE;
  cl_filter_mode filter = CL_FILTER_NEAREST;
  std::string name() const;
};

/// An image on the host. Sizes in dimensions that the type does not have are 1. `layered` is the dimension
/// whose coordinate selects a layer, or 3 if there is none.
struct HostImage {
  std::array<int, 3> size{1, 1, 1};
  int dimensions = 2;
  int layered = 3;
  std::vector<std::uint8_t> data;

  size_t count() const { return static_cast<size_t>(size[0]) * size[1] * size[2]; }
  size_t index(const std::array<int, 3>& at) const {
    return (static_cast<size_t>(at[2]) * size[1] + at[1]) * size[0] + at[0];
  }
};

/// The colour that a sampler reads at `coordinates`. `largest` becomes the greatest absolute value that
/// contributed to each component.
Colour sample(const HostImage& image, const Texels& texels, const SamplerState& sampler,
              const std::array<float, 3>& coordinates, Colour& largest);

}  // namespace clique::test
