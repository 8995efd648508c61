// Ends the worker where its main thread cannot: a call of the device's driver may wait for a kernel that
// never ends.
#pragma once

#include <array>
#include <chrono>
#include <memory>

namespace clique::daemon {

/// Ends the process a few seconds after the client's connections were closed, however busy the main thread
/// is.
class ConnectionWatch {
 public:
  /// @param patience for which the client may be away
  explicit ConnectionWatch(std::chrono::milliseconds patience);
  /// @param sockets descriptors of the connections that there are now. Whoever owns them closes them when
  /// they are lost.
  void set(const std::array<int, 2>& sockets);

 private:
  struct State;
  std::shared_ptr<State> state_;  // the watching thread's, too
};

/// Ends the process in a few seconds, in which the main thread may do it in better order. Any thread; returns
/// at once.
void end_soon();

}  // namespace clique::daemon
