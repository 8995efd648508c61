#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "daemon/server/fair_share.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon {

/// Shares the node's devices fairly between its sessions, in a thread of its own, which sleeps as long as no
/// device is used by several of them.
class Sharing {
 public:
  /// A worker's part in the sharing of its devices, until it is released.
  using Part = std::shared_ptr<const void>;

  /// Throws std::system_error.
  Sharing();
  ~Sharing();
  Sharing(const Sharing&) = delete;
  Sharing& operator=(const Sharing&) = delete;

  /// The eventfd for Notice::Kind::Bell.
  int bell() const { return bell_.get(); }
  /// A session begins to use devices. One thread, before which all parts are released.
  /// @param driver a position in NodeDevices::served
  /// @param places of the devices among the driver's
  Part join(const PacePage& page, std::uint32_t driver, const std::vector<std::uint32_t>& places,
            std::uint32_t share);

 private:
  using Device = std::pair<std::uint32_t, std::uint32_t>;  // driver and place
  struct State;

  const Fd bell_;
  std::shared_ptr<State> state_;  // shared with the thread, and with the parts
};

}  // namespace clique::daemon
