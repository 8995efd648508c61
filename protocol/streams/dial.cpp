#include "protocol/streams/dial.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <utility>

#include "protocol/random.hpp"
#include "protocol/throw_errno.hpp"

namespace clique::protocol {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// How long connecting and the handshake may take.
constexpr auto kDialTime = 5s;
/// How often a thread that connects looks whether it should stop.
constexpr int kStopIntervalMs = 50;

/// Whether the endpoint's host is an address, not a name.
bool is_numeric(const std::string& endpoint) {
  constexpr bool kNumeric = true;
  try {
    addresses_of(endpoint, kNumeric);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

/// Sends a message that fits into the buffer of a new connection.
void send_first(int socket, std::span<const std::uint8_t> message) {
  if (::send(socket, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(message.size()))
    throw StreamBroken("the handshake cannot be sent: " + error_text(errno));
}

}  // namespace

Dial::Dial(const StreamTarget& target, const StreamRequest& request) : target_(target), request_(request) {
  request_.worker = target.worker;
  request_.role = target.role;
  request_.cipher = StreamRequest::cipher_for(target.encryption, request.content, target.known);
  fill_random(request_.nonce);
  constexpr bool kNumeric = true;
  try {
    addresses_ = addresses_of(target.endpoint, !kNumeric);
  } catch (const std::runtime_error& error) {
    throw StreamBroken(error.what());
  }
  connect();
}

void Dial::connect() {
  while (next_ < addresses_.size()) {
    const SocketAddress& address = addresses_[next_++];
    socket_ = Fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket_) throw StreamBroken("no socket can be made: " + error_text(errno));
    if (::connect(socket_.get(), address.get(), address.size()) == 0 || errno == EINPROGRESS) return;
    note_failure(errno);
  }
  throw DialFailed(kind_, target_.endpoint + " cannot be reached: " + reason_);
}

void Dial::note_failure(int error) {
  const bool refused = addresses_[next_ - 1].refused(error) && is_numeric(target_.endpoint);
  kind_ = refused ? DialFailed::Kind::Refused : DialFailed::Kind::Other;
  reason_ = error_text(error);
}

short Dial::events() const {
  return connected_ ? POLLIN : POLLOUT;
}

bool Dial::step() {
  if (!connected_) {
    pollfd ready{socket_.get(), POLLOUT, 0};
    if (::poll(&ready, 1, 0) <= 0) return false;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      note_failure(error);
      connect();
      return false;
    }
    send_first(socket_.get(), request_.encode(target_.secret));
    connected_ = true;
  }
  while (arrived_ < answer_.size()) {
    const ssize_t count =
        ::recv(socket_.get(), answer_.data() + arrived_, answer_.size() - arrived_, MSG_DONTWAIT);
    if (count == 0) throw StreamClosed();
    if (count < 0) {
      if (errno == EAGAIN) return false;
      if (errno == EINTR) continue;
      throw StreamBroken(error_text(errno));
    }
    arrived_ += static_cast<std::size_t>(count);
  }
  if (answer_ == StreamAnswer::kNoSuchWorker)
    throw DialFailed(DialFailed::Kind::Gone, "the worker has exited");
  const auto answer = StreamAnswer::decode(answer_, target_.secret, request_);
  if (!answer) throw StreamBroken(target_.endpoint + " answers, but does not know the session's key");
  done_ = {std::move(socket_), request_.cipher,
           derive_keys(target_.secret, request_.nonce, answer->nonce, request_.line, request_.attempt),
           answer->received};
  return true;
}

Dialled Dial::take() {
  return std::move(done_);
}

std::unique_ptr<Dialling> begin_dial(const StreamTarget& target, const StreamRequest& request) {
  if (target.dialler) return target.dialler(target, request);
  return std::make_unique<Dial>(target, request);
}

Dialled dial(const StreamTarget& target, const StreamRequest& request, const std::function<bool()>& stop) {
  const auto attempt = begin_dial(target, request);
  const auto deadline = Clock::now() + kDialTime;
  while (!attempt->step()) {
    pollfd item{attempt->fd(), attempt->events(), 0};
    if (::poll(&item, 1, kStopIntervalMs) > 0) continue;
    if (stop()) throw StreamBroken("it is not needed any more");
    if (Clock::now() > deadline) throw StreamBroken("the connection took too long");
  }
  return attempt->take();
}

Dialled answer_dial(Fd socket, const StreamRequest& request, std::span<const std::uint8_t> secret,
                    std::uint64_t received) {
  StreamAnswer answer;
  answer.received = received;
  fill_random(answer.nonce);
  send_first(socket.get(), answer.encode(secret, request));
  return {std::move(socket), request.cipher,
          derive_keys(secret, request.nonce, answer.nonce, request.line, request.attempt), request.received};
}

}  // namespace clique::protocol
