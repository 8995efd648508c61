#pragma once

#include <CL/cl_ext.h>

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/commands/queue.hpp"
#include "icd/core/programs/kernel.hpp"

namespace clique::icd {

/// cl_khr_command_buffer_mutable_dispatch: a kernel launch in a command buffer, which
/// clUpdateMutableCommandsKHR changes between runs. Its handle lives as long as the application has the
/// command buffer. Any thread.
class MutableCommand final
    : public Object<_cl_mutable_command_khr, Kind::MutableCommand, CL_INVALID_MUTABLE_COMMAND_KHR> {
 public:
  /// The application's arguments when it recorded the command.
  struct Traits {
    Ref<Queue> queue;
    Ref<Kernel> kernel;
    std::vector<cl_properties> properties;  ///< the list with its closing 0, or empty
    /// What may be changed: CL_MUTABLE_DISPATCH_…
    cl_mutable_dispatch_fields_khr fields = 0;
  };
  /// What an update may change.
  struct Launch {
    Ref<Kernel> arguments;  ///< a kernel of the command's own, with its arguments; never changed
    NdRange range;
  };

  MutableCommand(Traits traits, Launch launch) : traits_(std::move(traits)), launch_(std::move(launch)) {}

  const Traits& traits() const { return traits_; }
  Launch launch() const {
    const std::lock_guard lock(mutex_);
    return launch_;
  }

  /// Its place, once it is in a command buffer. Set before the application has the handle.
  void place(cl_command_buffer_khr owner, std::size_t number) {
    owner_ = owner;
    number_ = number;
  }
  /// The handle of its command buffer, which may be gone.
  cl_command_buffer_khr owner() const { return owner_; }
  /// Counts the command buffer's commands from 0.
  std::size_t number() const { return number_; }
  /// For the command buffer, which has to know of the change. @returns what was there
  Launch replace(Launch launch) {
    const std::lock_guard lock(mutex_);
    return std::exchange(launch_, std::move(launch));
  }

 private:
  const Traits traits_;
  cl_command_buffer_khr owner_ = nullptr;
  std::size_t number_ = 0;
  mutable std::mutex mutex_;
  Launch launch_;  // guarded by mutex_
};

}  // namespace clique::icd
