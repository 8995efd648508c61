// Reading PTX that NVRTC wrote, to learn which kernels it contains.
#pragma once

#include <string_view>
#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace clique::daemon::compiler {

/// The kernels (`.entry`) of PTX made from CUDA C++, in the order of the PTX. The arguments follow from the
/// declarations of the parameters: an 8-byte integer is ArgKind::Global if it is declared as a pointer,
/// otherwise ArgKind::Any, because NVRTC does not mark pointers for most architectures; everything else is
/// ArgKind::Value. A kernel that uses an `extern __shared__` array, itself or through a function that it
/// calls, has one more argument, ArgKind::Dynamic.
///
/// A kernel's name is its C++ name without parameters ("blas::axpy<float>") if no other kernel has the same,
/// otherwise the name of its entry.
/// Throws std::runtime_error if the PTX is not understood.
std::vector<Kernel> kernels_of_ptx(std::string_view ptx);

}  // namespace clique::daemon::compiler
