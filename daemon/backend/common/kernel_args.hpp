#pragma once

#include <memory>
#include <optional>

#include "daemon/backend/common/table.hpp"

namespace clique::daemon {

/// The kernel that a launch is of, with the launch's arguments set.
template <typename Kernel>
struct KernelWithArgs {
  std::shared_ptr<Kernel> kernel;  ///< null if it could not be created
  std::optional<ClError> failure;  ///< the first; the launch fails with it
};

/// Sets all arguments that a launch brings, also those after one that fails: arguments stay set for later
/// launches.
/// @param set called with the kernel and an argument; may throw ClError and RuleBroken
template <typename Kernel, typename Set>
KernelWithArgs<Kernel> set_args(const Table<Kernel>& kernels, const protocol::RunKernel& message, Set&& set) {
  KernelWithArgs<Kernel> result;
  try {
    result.kernel = kernels.get(message.kernel);
  } catch (const ClError& error) {
    result.failure = error;
    return result;
  }
  for (const protocol::KernelArg& arg : message.args) {
    try {
      set(*result.kernel, arg);
    } catch (const ClError& error) {
      if (!result.failure) result.failure = error;
    }
  }
  return result;
}

}  // namespace clique::daemon
