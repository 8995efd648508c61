#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "daemon/backend/cuda/gpu/driver.hpp"
#include "daemon/worker/errors.hpp"

namespace clique::daemon::cuda {

/// What a command follows and precedes in a queue that keeps no order.
struct Ordering {
  bool everything_before = false;  ///< it follows all earlier commands
  bool everything_after = false;   ///< all later commands follow it
};

struct OwnLaunch;

/// What a command has the GPU do. Commands makes a Task of it.
struct Work {
  std::function<void(CUstream)> run;                                       ///< as Task::run
  std::function<void(CUstream, CUdeviceptr, std::uint32_t)> run_and_mark;  ///< as Task::run_and_mark
  bool mark_only_after_kernel = false;            ///< as Task::mark_only_after_kernel
  std::vector<std::shared_ptr<const void>> keep;  ///< as Task::keep
  std::string_view kernel;                        ///< as Task::kernel
  /// Of a read: where `run` leaves the block of `size` bytes that is sent to the client as Data. Nothing is
  /// sent if the block is null when the command completes.
  std::shared_ptr<std::shared_ptr<std::byte>> data;
  std::size_t size = 0;
  std::uint32_t part = 0;  ///< of Data
  /// Of a recorded command that is nothing but one launch: that launch.
  std::shared_ptr<const OwnLaunch> launch;
  std::function<void()> before_report;  ///< called when the command has completed
  /// Called when the command has completed, before that; an error fails it. May be empty.
  std::function<std::optional<ClError>()> verdict;
  Ordering ordering;
};

}  // namespace clique::daemon::cuda
