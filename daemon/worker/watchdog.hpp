// Ends the worker when its main thread cannot, since a call of the driver may wait for a kernel that never
// ends.
#pragma once

#include <array>
#include <chrono>
#include <memory>

namespace clique::daemon {

/// Ends the process a few seconds after the client's connections were closed, even while the main thread is
/// in a call of the driver.
class ConnectionWatch {
 public:
  /// @param patience how long the client may be cut off
  explicit ConnectionWatch(std::chrono::milliseconds patience);
  /// @param sockets descriptors of the present connections. ZeroMQ, which owns them, closes them when they
  /// are lost.
  void set(const std::array<int, 2>& sockets);

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the watching thread
};

/// Ends the process in a few seconds, unless the main thread ends it before. Any thread. Returns at once.
void end_soon();

}  // namespace clique::daemon
