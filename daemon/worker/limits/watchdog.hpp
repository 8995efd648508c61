// Ends the worker when its main thread cannot, since a call of the driver may wait for a kernel that never
// ends.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace clique::daemon {

/// Ends the process a few seconds after the client's connections were closed, even while the main thread is
/// in a call of the driver.
class ConnectionWatch {
 public:
  /// @param patience how long the client may be cut off
  /// @param pulse called every protocol::kPulseInterval, on a thread of its own; may be empty
  ConnectionWatch(std::chrono::milliseconds patience, std::function<void()> pulse);
  /// @param gone tells whether the present connections were lost; called on that thread
  void set(std::function<bool()> gone);

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the watching thread
};

/// Ends the process in a few seconds, unless the main thread ends it before. Any thread. Returns at once.
void end_soon();

}  // namespace clique::daemon
