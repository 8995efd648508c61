#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <vector>

#include "common.hpp"

namespace fake_cuda {

/// What a kernel learns of its launch.
struct Launch {
  std::array<unsigned, 3> groups, items;
  unsigned shared;
  std::vector<unsigned char> parameters;

  template <typename T>
  T parameter(std::size_t offset) const {
    T value{};
    std::memcpy(&value, parameters.data() + offset, sizeof value);
    return value;
  }
  std::size_t all_items() const {
    return std::size_t{groups[0]} * groups[1] * groups[2] * items[0] * items[1] * items[2];
  }
};

/// What a launch does; empty if the launch is not possible.
std::function<void()> work_of(const CUDA_KERNEL_NODE_PARAMS& all);

}  // namespace fake_cuda
