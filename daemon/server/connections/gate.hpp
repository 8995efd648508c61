#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/common/log.hpp"
#include "daemon/server/configuration/listen_address.hpp"
#include "daemon/server/configuration/visitor.hpp"
#include "protocol/fd.hpp"
#include "protocol/messages/session.hpp"
#include "protocol/messages/status.hpp"
#include "protocol/security/socket_owner.hpp"
#include "protocol/security/tls.hpp"
#include "protocol/streams/handshake.hpp"

namespace clique::daemon {

/// The number of a connection at the gate. Never reused.
using GuestId = std::uint64_t;

/// A client's request.
struct Greeting {
  GuestId guest = 0;
  Visitor visitor;
  protocol::Hello hello;
  protocol::Steer steer = {};                   ///< if hello.wish is Steer
  protocol::Reach reach = {};                   ///< if hello.wish is Reach
  std::optional<protocol::Choice> choice = {};  ///< if hello.wish is Reserve, perhaps if it is Session
};

/// A connection that is for a worker. Nobody knows yet who made it.
struct StreamVisit {
  Fd socket;
  std::string address;  ///< ADDRESS:PORT of the other end
  protocol::StreamAddress worker{};
  protocol::StreamRequest::Message request{};
};

/// The requests that have arrived at the gate.
struct Arrivals {
  std::vector<Greeting> greetings;
  std::vector<StreamVisit> streams;
};

/// The daemon's port. It accepts connections, makes each prove a key, and reads one Greeting from it. A
/// connection that begins with a StreamRequest instead leaves the gate with it. Until then, connections use
/// bounded memory, descriptors and time: if there are too many, the gate closes the one that has waited
/// longest, of the address with the most connections. Each turn serves all addresses. The caller decides whom
/// to admit. No function blocks. One thread.
class Gate {
 public:
  using Clock = std::chrono::steady_clock;

  /// Listens. Throws std::system_error.
  /// @param vsock also listen at the same port of vsock, for virtual machines of this host
  Gate(const ListenAddress& listen, bool vsock, const protocol::Identity& identity);

  /// The port, which the system has chosen if the address asks for port 0.
  std::uint16_t port() const { return port_; }
  /// A descriptor that is readable while turn() has something to do.
  int fd() const { return events_.get(); }

  /// Accepts, receives and sends for a bounded time. @returns what has come
  Arrivals turn();

  bool connected(GuestId guest) const { return guests_.contains(guest); }
  /// Sends a message. @returns false if the guest has gone
  template <typename M>
  bool answer(GuestId guest, const M& message) {
    protocol::Batch batch;
    batch.add(message);
    return send(guest, batch);
  }
  /// Closes the connection soon: it has its answer, which may still be on its way.
  void let_go(GuestId guest);
  /// Sends the reason, and lets the guest go.
  void refuse(GuestId guest, const std::string& reason);
  /// Closes the connection.
  void dismiss(GuestId guest);
  /// From now on nobody else can connect; guests stay.
  void close();

 private:
  enum class Stage : std::uint8_t {
    Stranger,  ///< has not said Hello
    Guest,     ///< waits for an answer, or until it is attached to its workers
    Leaving    ///< has its answer
  };
  struct Connection {
    Stage stage = Stage::Stranger;
    Fd socket;                                      ///< until the first byte arrives, or of a stream
    std::vector<std::uint8_t> request;              ///< of a stream, as far as it has arrived
    std::unique_ptr<protocol::TlsChannel> channel;  ///< afterwards
    std::string host;                               ///< numeric address, without the port
    std::string address;
    std::optional<Clock::time_point> until;  ///< when the connection is closed
    bool waits_to_send = false;
  };
  using Connections = std::map<GuestId, Connection>;

  /// Accepts a connection. @returns false if there is none
  bool accept(int listener);
  /// Closes a connection that nobody is admitted on, so that another has room. @returns false if there is
  /// none
  bool make_room();
  /// How many connections nobody is admitted on: those of strangers, and those that have their answer.
  std::size_t strangers() const;
  /// Serves a connection that has something to receive or to send.
  void serve(Connections::iterator connection, Arrivals& arrivals);
  /// Whether a connection is a stream. @returns nothing if that is not known yet, or the connection was
  /// dropped
  std::optional<bool> is_stream(Connections::iterator connection);
  void read_request(Connections::iterator connection, std::vector<StreamVisit>& streams);
  void read_hello(Connections::iterator connection, const std::shared_ptr<const std::string>& records,
                  std::vector<Greeting>& greetings);
  /// The same as answer().
  bool send(GuestId guest, const protocol::Batch& batch);
  /// Receives and sends. @returns false if the connection has ended, and is forgotten
  bool work(Connections::iterator connection);
  void drop(Connections::iterator connection, const std::string& why);
  void close_late();
  void watch(int fd, GuestId guest, std::uint32_t events, bool first);

  protocol::TlsContext tls_;
  protocol::SocketOwners owners_;
  Fd listener_;
  Fd vsock_listener_;
  Fd events_;
  std::uint16_t port_ = 0;
  Connections guests_;
  GuestId last_ = 0;
  Clock::time_point next_check_;
  LogLimit warnings_;
};

}  // namespace clique::daemon
