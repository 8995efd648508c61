#include "daemon/server/connections/dial_desk.hpp"

#include <exception>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "daemon/confinement/fixed_peer.hpp"
#include "protocol/streams/dial.hpp"
#include "protocol/transport/endpoint.hpp"

namespace clique::daemon {

namespace {

using protocol::DialFailed;

/// Connects, and does the handshake. Throws std::runtime_error.
/// @param stop see protocol::dial()
protocol::Dialled make_connection(const DialRequest& request, const std::function<bool()>& stop) {
  // Nothing else reaches this desk from an honest worker, which has checked what its client named.
  if (!protocol::is_tcp_endpoint(request.endpoint))
    throw std::runtime_error("'" + request.endpoint + "' is not tcp://HOST:PORT");
  protocol::StreamTarget target;
  target.endpoint = request.endpoint;
  target.worker = request.worker;
  target.role = protocol::StreamRequest::Role::Peer;
  target.secret = request.secret;
  target.encryption = request.encryption;
  target.known = request.known;
  protocol::StreamRequest stream;
  stream.content = request.content;
  stream.line = request.line;
  stream.attempt = request.attempt;
  stream.received = request.received;
  protocol::Dialled connection = protocol::dial(target, stream, stop);
  confinement::fix_peer(connection.socket.get());
  return connection;
}

Notice failed(std::uint64_t number, DialFailed::Kind kind, const std::string& why) {
  Notice notice{Notice::Kind::Dialled, why};
  notice.status = static_cast<std::int32_t>(kind);
  notice.request = to_bytes(DialAnswer{.number = number});
  return notice;
}

Notice succeeded(std::uint64_t number, const protocol::Dialled& connection) {
  Notice notice{Notice::Kind::Dialled, ""};
  notice.request = to_bytes(DialAnswer{number, connection.cipher, connection.keys.to_worker,
                                       connection.keys.from_worker, connection.received});
  return notice;
}

}  // namespace

void DialDesk::dial(const Account& account, DialRequest request) {
  ++*account.waiting_;
  const std::weak_ptr<std::size_t> waiting = account.waiting_;
  const std::uint64_t number = request.number;
  const std::string endpoint = request.endpoint;
  const auto work = [answers = answers_, waiting, request = std::move(request)] {
    const auto earliest = std::chrono::steady_clock::now() + kDialFailureTime;
    Answer answer{waiting, request.endpoint, {}, {}};
    try {
      protocol::Dialled connection = make_connection(request, [&] { return waiting.expired(); });
      answer.notice = succeeded(request.number, connection);
      answer.socket = std::move(connection.socket);
    } catch (const DialFailed& error) {
      answer.notice = failed(request.number, error.kind(), error.what());
    } catch (const std::exception& error) {
      answer.notice = failed(request.number, DialFailed::Kind::Other, error.what());
    }
    if (!answer.socket) std::this_thread::sleep_until(earliest);
    answers->add(std::move(answer));
  };
  try {
    std::thread(work).detach();
  } catch (const std::system_error& error) {
    answers_->add({waiting,
                   endpoint,
                   {},
                   failed(number, DialFailed::Kind::Other,
                          std::string("the node cannot start a thread: ") + error.what())});
  }
}

std::vector<DialDesk::Answer> DialDesk::done() {
  std::vector<Answer> done = answers_->take();
  std::erase_if(done, [](const Answer& answer) { return answer.account.expired(); });
  for (const Answer& answer : done) --*answer.account.lock();
  return done;
}

}  // namespace clique::daemon
