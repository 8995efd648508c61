#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "daemon/server/devices/fair_share.hpp"
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

  /// Makes a worker's bell, for Notice::Kind::Bell. Each has its own, so that none can take another one's
  /// rings away. Throws std::system_error.
  static Fd make_bell();
  /// A session begins to use devices. One thread. All parts have to be released before this is destroyed.
  /// @param bell the worker's
  /// @param driver a position in NodeDevices::served
  /// @param places of the devices among the driver's
  Part join(const PacePage& page, Fd bell, std::uint32_t driver, const std::vector<std::uint32_t>& places,
            std::uint32_t share);

 private:
  using Device = std::pair<std::uint32_t, std::uint32_t>;  // driver and place
  struct State;

  std::shared_ptr<State> state_;  // shared with the thread, and with the parts
};

}  // namespace clique::daemon
