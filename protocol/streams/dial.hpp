// Making the connections of streams.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "protocol/fd.hpp"
#include "protocol/pass.hpp"
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

/// A connection could not be made, for a reason that tells whether another attempt may do.
class DialFailed final : public StreamBroken {
 public:
  enum class Kind : std::uint8_t {
    Refused = 1,  ///< nobody listens at the port of an address; a host's name may stand for several
    Gone = 2,     ///< the daemon has no such worker
    Other = 3
  };

  DialFailed(Kind kind, const std::string& text) : StreamBroken(text), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

/// The other end has closed a connection.
class StreamClosed : public StreamBroken {
 public:
  StreamClosed() : StreamBroken("the other end closed the connection") {}
};

class Dialling;
struct StreamTarget;

/// Begins to make a connection. Throws StreamBroken and SecurityError.
/// @param request its line, attempt, content and number of received records are sent; the rest is set here
using Dialler =
    std::function<std::unique_ptr<Dialling>(const StreamTarget& target, const StreamRequest& request)>;

/// How to reach a worker's streams, and what admits to them.
struct StreamTarget {
  std::string endpoint;  ///< of its daemon: see endpoint_of()
  StreamAddress worker{};
  StreamRequest::Role role = StreamRequest::Role::Client;
  Bytes secret;  ///< Pass::stream_key
  Encryption encryption = Encryption::All;
  KnownCiphers known = {};                      ///< Pass::known_ciphers()
  Compression compression = Compression::Auto;  ///< of what this end sends
  bool ucx = false;                             ///< parts travel through UCX
  Dialler dialler = {};                         ///< makes the connections; empty: Dial does
};

/// A connection after its handshake.
struct Dialled {
  Fd socket;
  StreamCipher cipher = StreamCipher::None;
  ConnectionKeys keys;
  std::uint64_t received = 0;  ///< parts, or batches, of the line that the other end has received
};

/// The making of a connection to a worker, with its handshake, without waiting. One thread at a time.
class Dialling {
 public:
  virtual ~Dialling() = default;
  Dialling(const Dialling&) = delete;
  Dialling& operator=(const Dialling&) = delete;

  /// A descriptor, and the events of poll(2) on it that step() waits for. Both may change in step().
  virtual int fd() const = 0;
  virtual short events() const = 0;
  /// Goes on. @returns whether the handshake is done. Throws StreamBroken and SecurityError.
  virtual bool step() = 0;
  /// After step() has returned true.
  virtual Dialled take() = 0;

 protected:
  Dialling() = default;
};

/// Connects to a daemon's port, and does the handshake with a worker there.
class Dial final : public Dialling {
 public:
  /// Begins, as a Dialler. Resolves the name of the host, which may wait if it is not an address.
  Dial(const StreamTarget& target, const StreamRequest& request);

  int fd() const override { return socket_.get(); }
  short events() const override;
  bool step() override;
  Dialled take() override;

 private:
  /// Begins to connect to the next address of the host. Throws DialFailed if there is none.
  void connect();
  /// Notes why the present address cannot be reached.
  void note_failure(int error);

  const StreamTarget target_;
  StreamRequest request_;
  std::vector<SocketAddress> addresses_;
  std::size_t next_ = 0;  // which of them to try after the current one
  Fd socket_;
  bool connected_ = false;
  std::size_t arrived_ = 0;  // bytes of answer_
  StreamAnswer::Message answer_{};
  Dialled done_;
  DialFailed::Kind kind_ = DialFailed::Kind::Other;
  std::string reason_;  // why the last address could not be reached
};

/// Begins to make a connection in the target's way. Throws StreamBroken and SecurityError.
std::unique_ptr<Dialling> begin_dial(const StreamTarget& target, const StreamRequest& request);

/// Makes a connection in the target's way, and waits for it. Throws StreamBroken and SecurityError.
/// @param stop looked at several times a second: true gives up
Dialled dial(const StreamTarget& target, const StreamRequest& request, const std::function<bool()>& stop);

/// The worker's side of the handshake, for a request that is authentic: answers it. Throws StreamBroken and
/// SecurityError.
/// @param received parts, or batches, of the line that this end has received
Dialled answer_dial(Fd socket, const StreamRequest& request, std::span<const std::uint8_t> secret,
                    std::uint64_t received);

}  // namespace clique::protocol
