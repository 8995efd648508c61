// NVPTX's numbers of address spaces.
#pragma once

#include <cstdint>

namespace clique::daemon::compiler {

inline constexpr unsigned kGenericSpace = 0;
inline constexpr unsigned kGlobalSpace = 1;
inline constexpr unsigned kSharedSpace = 3;
inline constexpr unsigned kConstantSpace = 4;

/// Of everything in the dynamic shared memory that OpenCL could ask for: long16.
inline constexpr std::uint32_t kLocalAlignment = 128;

}  // namespace clique::daemon::compiler
