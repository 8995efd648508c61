#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "daemon/worker/limits/watchdog.hpp"
#include "protocol/fd.hpp"
#include "protocol/streams/batch_line.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::daemon {

/// One of the client's two connections, and the monitor that tells when it is lost. Main thread.
class Connection {
 public:
  /// @param socket the ROUTER that accepts the connection
  /// @param name a name for the monitor
  Connection(zmq::context_t& context, zmq::socket_ref socket, const std::string& name);

  /// The first connection is the one that brought this message.
  void set(const protocol::Incoming& incoming);
  /// From now on it is the connection that brought this message.
  void replace(const protocol::Incoming& incoming);
  bool up() const { return descriptor_ >= 0; }
  /// As ZeroMQ names the connection.
  int descriptor() const { return descriptor_; }

  /// Readable when lost() may have changed.
  zmq::socket_ref monitor() { return monitor_; }
  /// Reads the monitor. @returns whether the connection was lost.
  bool lost();
  /// Forgets a lost connection.
  /// @returns whether the other side closed it, as the system does when a process ends
  bool drop();

 private:
  zmq::socket_t monitor_;
  int descriptor_ = -1;
  Fd kept_;  // the same connection, which tells how it ended
};

/// The client's two connections over ZeroMQ, or the one that carries its line: for how long they may be gone.
/// Main thread.
class ClientConnections {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param patience how long a client may be cut off
  ClientConnections(zmq::context_t& context, zmq::socket_ref commands_socket, zmq::socket_ref reports_socket,
                    std::chrono::milliseconds patience);

  Connection commands;
  Connection reports;

  /// The client uses this line instead of the two connections.
  void use(std::shared_ptr<protocol::BatchLine> line) { line_ = std::move(line); }
  /// The line, or null.
  const std::shared_ptr<protocol::BatchLine>& line() const { return line_; }

  /// From now on the process ends soon after the connections have been gone for too long, even while the main
  /// thread is busy. Both are up.
  /// @param resumable whether they may be gone for any time
  void watch(bool resumable, const std::string& client);
  /// Whether the client may make new connections when these are lost.
  bool resumable() const { return resumable_; }

  enum class Loss { None, Broken, Closed };
  /// Reads the monitors. @returns how connections were lost that were up.
  Loss look();
  /// Waits for the client to come back.
  void wait(Loss loss);
  /// A connection was made again. Ends the waiting if both are up.
  void resumed();
  bool waiting() const { return away_until_.has_value(); }
  /// Whether the client has been gone for too long.
  bool overdue(Clock::time_point now) const { return away_until_ && now > *away_until_; }

 private:
  bool up() const { return line_ ? line_->connected() : commands.up() && reports.up(); }

  const std::chrono::milliseconds patience_;
  std::shared_ptr<protocol::BatchLine> line_;
  bool line_was_up_ = false;
  bool begun_ = false;  // all connections have been there
  bool resumable_ = false;
  std::string client_;  // for logs
  std::optional<ConnectionWatch> watch_;
  std::optional<Clock::time_point> away_until_;
};

}  // namespace clique::daemon
