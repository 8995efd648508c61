#pragma once

#include <cstdint>
#include <memory>

#include "daemon/backend/opencl/native.hpp"
#include "daemon/worker/limits/pacer.hpp"

namespace clique::daemon::opencl {

/// Has the Pacer count a kernel that may wait for something that the driver does not do by itself: from when
/// it runs, until this is released. Its session would otherwise pay for time in which the device does nothing
/// for it.
class LateTicket : public std::enable_shared_from_this<LateTicket> {
 public:
  /// @param place of the device, as Pacer::launch() takes it
  LateTicket(Pacer& pacer, std::uint32_t place) : pacer_(pacer), place_(place) {}

  /// The kernel has been enqueued with this event. Not counted if the driver does not tell when it runs.
  void watch(cl_event event) {
    auto to = std::make_unique<std::weak_ptr<LateTicket>>(weak_from_this());
    if (clSetEventCallback(event, CL_RUNNING, runs, to.get()) == CL_SUCCESS) static_cast<void>(to.release());
  }

 private:
  static void CL_CALLBACK runs(cl_event /*event*/, cl_int /*status*/, void* data) {
    const std::unique_ptr<std::weak_ptr<LateTicket>> to(static_cast<std::weak_ptr<LateTicket>*>(data));
    // Some drivers call late; then the kernel has ended already.
    if (const auto ticket = to->lock()) ticket->counted_ = ticket->pacer_.launch(ticket->place_);
  }

  Pacer& pacer_;
  const std::uint32_t place_;
  std::shared_ptr<const void> counted_;
};

}  // namespace clique::daemon::opencl
