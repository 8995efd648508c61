// The numbers of address spaces.
#pragma once

#include <cstdint>

namespace clique::daemon::compiler {

// NVPTX's.
inline constexpr unsigned kGenericSpace = 0;
inline constexpr unsigned kGlobalSpace = 1;
inline constexpr unsigned kSharedSpace = 3;
inline constexpr unsigned kConstantSpace = 4;

/// SPIR's, which OpenCL C's front end also has for its own metadata.
enum SpirSpace : unsigned {
  kSpirPrivate = 0,
  kSpirGlobal = 1,
  kSpirConstant = 2,
  kSpirLocal = 3,
  kSpirGeneric = 4
};

/// Of everything in the dynamic shared memory that OpenCL could ask for: long16.
inline constexpr std::uint32_t kLocalAlignment = 128;

}  // namespace clique::daemon::compiler
