// When broken lines are connected again, and when they are given up.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "protocol/fd.hpp"
#include "protocol/socket_address.hpp"

namespace clique::protocol {

class Line;

/// Finds out whether a process listens at a port. ZeroMQ reports that it could not connect, but not whether
/// the host refused the connection or cannot be reached. Used by one thread.
class PortProbe {
 public:
  /// @param endpoint see endpoint_of(), with a numeric address; any other never counts as refusing
  void start(const std::string& endpoint);
  bool started() const { return socket_.get() >= 0; }
  /// The outcome, once; without waiting.
  enum class Answer { None, Refused, Other };
  Answer answer();

 private:
  Fd socket_;
  std::optional<SocketAddress> address_;
  int error_ = 0;
};

/// Decides when a broken line is reconnected, and when it is given up. Used by one thread.
class Repair {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Advice { Fine, Wait, Reconnect, GiveUp };

  /// @param patience resume timeout: how long the line may be down
  Advice look(Line& line, Clock::time_point now, Clock::duration patience);
  /// Why, in words; after GiveUp.
  const char* reason() const { return reason_; }

 private:
  Clock::time_point since_;    // the beginning of the outage
  Clock::time_point attempt_;  // the last attempt to connect
  PortProbe probe_;
  Clock::time_point refused_;  // since when the port refuses connections
  const char* reason_ = "";
};

}  // namespace clique::protocol
