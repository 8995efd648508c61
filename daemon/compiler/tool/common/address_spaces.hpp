// The numbers of address spaces in LLVM's representation of programs.
#pragma once

#include <cstdint>

namespace clique::daemon::compiler {

// Those of NVPTX, for which code is generated.
inline constexpr unsigned kGenericSpace = 0;
inline constexpr unsigned kGlobalSpace = 1;
inline constexpr unsigned kSharedSpace = 3;
inline constexpr unsigned kConstantSpace = 4;

/// Those of SPIR, which the metadata of OpenCL C's front end uses, too.
enum SpirSpace : unsigned {
  kSpirPrivate = 0,
  kSpirGlobal = 1,
  kSpirConstant = 2,
  kSpirLocal = 3,
  kSpirGeneric = 4
};

/// Alignment of the dynamic shared memory, in bytes: the largest that OpenCL can ask for (long16).
inline constexpr std::uint32_t kLocalAlignment = 128;

}  // namespace clique::daemon::compiler
