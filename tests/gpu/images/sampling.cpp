#include "sampling.hpp"

#include <algorithm>
#include <cmath>

namespace clique::test {

namespace {

constexpr int kBorder = -1;

/// The texels that contribute in one dimension, and the weight of the second one.
struct Position {
  int first = 0, second = 0;
  double weight = 0;
};

int address(int i, int size, cl_addressing_mode mode) {
  if (mode == CL_ADDRESS_CLAMP) return i < 0 || i >= size ? kBorder : i;
  return std::clamp(i, 0, size - 1);
}

Position position(double coordinate, int size, const SamplerState& sampler) {
  double u = sampler.normalised ? coordinate * size : coordinate;
  const bool linear = sampler.filter == CL_FILTER_LINEAR;
  if (sampler.addressing == CL_ADDRESS_REPEAT) {
    u = (coordinate - std::floor(coordinate)) * size;
  } else if (sampler.addressing == CL_ADDRESS_MIRRORED_REPEAT) {
    u = std::abs(coordinate - 2 * std::rint(0.5 * coordinate)) * size;
  }
  const int first = static_cast<int>(std::floor(linear ? u - 0.5 : u));
  Position result{first, first + 1, linear ? u - 0.5 - first : 0};
  if (sampler.addressing == CL_ADDRESS_REPEAT) {
    result.first = (result.first + size) % size;
    result.second = result.second % size;
  } else {
    result.first = address(result.first, size, sampler.addressing);
    result.second = address(result.second, size, sampler.addressing);
  }
  return result;
}

}  // namespace

std::string SamplerState::name() const {
  std::string text = normalised ? "normalised " : "unnormalised ";
  switch (addressing) {
    case CL_ADDRESS_NONE:
      text += "NONE ";
      break;
    case CL_ADDRESS_CLAMP_TO_EDGE:
      text += "CLAMP_TO_EDGE ";
      break;
    case CL_ADDRESS_CLAMP:
      text += "CLAMP ";
      break;
    case CL_ADDRESS_REPEAT:
      text += "REPEAT ";
      break;
    default:
      text += "MIRRORED_REPEAT ";
      break;
  }
  return text + (filter == CL_FILTER_LINEAR ? "LINEAR" : "NEAREST");
}

Colour sample(const HostImage& image, const Texels& texels, const SamplerState& sampler,
              const std::array<float, 3>& coordinates, Colour& largest) {
  std::array<Position, 3> at{};
  for (int d = 0; d < image.dimensions; ++d) {
    if (d == image.layered) {
      const int layer = std::clamp(static_cast<int>(std::rint(coordinates[d])), 0, image.size[d] - 1);
      at[d] = {layer, layer, 0};
    } else {
      at[d] = position(coordinates[d], image.size[d], sampler);
    }
  }
  Colour sum{};
  largest = {};
  for (int corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::array<int, 3> texel{};
    for (int d = 0; d < 3; ++d) {
      const bool second = (corner >> d & 1) != 0;
      weight *= second ? at[d].weight : 1 - at[d].weight;
      texel[d] = second ? at[d].second : at[d].first;
    }
    if (weight == 0) continue;
    const bool outside = std::find(texel.begin(), texel.end(), kBorder) != texel.end();
    const Colour colour =
        outside ? texels.border() : texels.decode(image.data.data() + image.index(texel) * texels.size());
    for (size_t c = 0; c < 4; ++c) {
      sum[c] += weight * colour[c];
      largest[c] = std::max(largest[c], std::abs(colour[c]));
    }
  }
  return sum;
}

}  // namespace clique::test
