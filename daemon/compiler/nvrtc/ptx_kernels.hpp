#pragma once

#include <string_view>
#include <vector>

#include "daemon/compiler/contract/program_binary.hpp"

namespace clique::daemon::compiler {

/// The kernels (`.entry`) of PTX made from CUDA C++, in their order. What their parameters are is in their
/// declarations: integers of 8 bytes are ArgKind::Global where these say that it is a pointer, else
/// ArgKind::Any, since NVRTC does not say it for most architectures; all else is ArgKind::Value. A kernel
/// that uses an `extern __shared__` array, itself or in a function that it calls, has an argument more:
/// ArgKind::Dynamic.
///
/// A kernel is named as C++ declares it, without parameters ("blas::axpy<float>"), where that tells it from
/// the others, else like its entry.
/// Throws std::runtime_error where it is no such PTX.
std::vector<Kernel> kernels_of_ptx(std::string_view ptx);

}  // namespace clique::daemon::compiler
