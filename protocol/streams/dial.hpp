// Making the connections of streams.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "protocol/fd.hpp"
#include "protocol/payload.hpp"
#include "protocol/socket_address.hpp"
#include "protocol/streams/handshake.hpp"
#include "protocol/streams/keys.hpp"
#include "protocol/streams/packing.hpp"

namespace clique::protocol {

/// A connection has ended, or could not be made. Another one may do.
class StreamBroken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The other end has closed a connection.
class StreamClosed : public StreamBroken {
 public:
  StreamClosed() : StreamBroken("the other end closed the connection") {}
};

/// How to reach a worker's streams, and what admits to them.
struct StreamTarget {
  std::string endpoint;  ///< of its daemon: see endpoint_of()
  StreamAddress worker{};
  StreamRequest::Role role = StreamRequest::Role::Client;
  Bytes secret;  ///< Pass::stream_key
  bool encrypt = true;
  Compression compression = Compression::Auto;  ///< of what this end sends
  bool ucx = false;                             ///< parts travel through UCX
};

/// A connection after its handshake.
struct Dialled {
  Fd socket;
  StreamCipher cipher = StreamCipher::None;
  ConnectionKeys keys;
  std::uint64_t received = 0;  ///< parts, or batches, of the line that the other end has received
};

/// Connects to a daemon's port and does the handshake with a worker there, without waiting. One thread at a
/// time.
class Dial {
 public:
  /// How an attempt failed.
  enum class Failure : std::uint8_t {
    None,
    Refused,  ///< nobody listens at the port
    Gone,     ///< the daemon has no such worker
    Other
  };

  /// Begins an attempt. Resolves the name of the host, which may wait if it is not an address. Throws
  /// StreamBroken and SecurityError.
  /// @param request its line, attempt, content and number of received records are sent; the rest is set here
  Dial(const StreamTarget& target, const StreamRequest& request);
  Dial(const Dial&) = delete;
  Dial& operator=(const Dial&) = delete;

  /// The socket, and the events of poll(2) that step() waits for. Another attempt of the same Dial (the
  /// host's next address) has another socket.
  int fd() const { return socket_.get(); }
  short events() const;
  /// Goes on. @returns whether the handshake is done. Throws StreamBroken and SecurityError.
  bool step();
  /// After step() has returned true.
  Dialled take();
  /// After step(), or the constructor, has thrown.
  Failure failure() const { return failure_; }

 private:
  /// Begins to connect to the next address of the host. Throws StreamBroken if there is none.
  void connect();

  const StreamTarget target_;
  StreamRequest request_;
  std::vector<SocketAddress> addresses_;
  std::size_t next_ = 0;  // which of them to try after the current one
  Fd socket_;
  bool connected_ = false;
  std::size_t arrived_ = 0;  // bytes of answer_
  StreamAnswer::Message answer_{};
  Dialled done_;
  Failure failure_ = Failure::Other;
  std::string reason_;  // why the last address could not be reached
};

/// Dial that waits. @param stop looked at several times a second: true gives up. Throws StreamBroken and
/// SecurityError.
Dialled dial(const StreamTarget& target, const StreamRequest& request, const std::function<bool()>& stop);

/// The worker's side of the handshake, for a request that is authentic: answers it. Throws StreamBroken and
/// SecurityError.
/// @param received parts, or batches, of the line that this end has received
Dialled answer_dial(Fd socket, const StreamRequest& request, std::span<const std::uint8_t> secret,
                    std::uint64_t received);

}  // namespace clique::protocol
