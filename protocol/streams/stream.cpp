#include "protocol/streams/stream.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <system_error>

#include "protocol/limits.hpp"
#include "protocol/security/public_key.hpp"
#include "protocol/tcp.hpp"

namespace clique::protocol {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// Encryption goes over a payload in pieces of this size: each is still in the core's cache when the system
/// copies it.
constexpr std::size_t kPiece = 128 * kKiB;
/// How long connecting and the handshake may take, each.
constexpr auto kDialTime = 5s;
/// How often a thread that connects looks whether it should stop.
constexpr int kStopIntervalMs = 50;

std::string reason(int error) {
  return std::generic_category().message(error);
}

/// Waits until the socket is ready. Throws StreamBroken when the time is over or `stop` is true.
void await(int socket, short events, Clock::time_point deadline, const std::function<bool()>& stop,
           const char* what) {
  for (;;) {
    pollfd item{socket, events, 0};
    if (::poll(&item, 1, kStopIntervalMs) > 0) return;
    if (stop()) throw StreamBroken("it is not needed any more");
    if (Clock::now() > deadline) throw StreamBroken(std::string(what) + " took too long");
  }
}

/// A connection to the endpoint, which does not block yet.
Fd connect_to(const std::string& endpoint, const std::function<bool()>& stop) {
  const auto begin = endpoint.find("://") + 3;
  const auto colon = endpoint.rfind(':');
  std::string host = endpoint.substr(begin, colon - begin);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), endpoint.c_str() + colon + 1, &hints, &found); error != 0)
    throw StreamBroken("the name " + host + " cannot be resolved: " + ::gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::string failure;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    Fd socket(::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket) throw StreamBroken("no socket can be made: " + reason(errno));
    int error = ::connect(socket.get(), address->ai_addr, address->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      await(socket.get(), POLLOUT, Clock::now() + kDialTime, stop, "the connection");
      socklen_t size = sizeof error;
      ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    }
    if (error == 0) return socket;
    failure = reason(error);
  }
  throw StreamBroken(endpoint + " cannot be reached: " + failure);
}

/// Receives exactly these bytes from a socket that does not block.
void receive_all(int socket, std::span<std::uint8_t> bytes, const std::function<bool()>& stop) {
  const auto deadline = Clock::now() + kDialTime;
  while (!bytes.empty()) {
    await(socket, POLLIN, deadline, stop, "the answer");
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count == 0) throw StreamBroken("the other end closed the connection");
    if (count > 0)
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    else if (errno != EAGAIN && errno != EINTR)
      throw StreamBroken(reason(errno));
  }
}

/// Sends a message that fits into the buffer of a new connection.
void send_first(int socket, std::span<const std::uint8_t> message) {
  if (::send(socket, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
      static_cast<ssize_t>(message.size()))
    throw StreamBroken("the handshake cannot be sent: " + reason(errno));
}

/// The system reports memory that is gone as an error. Makes this thread fault instead, as any other access
/// to the application's memory does: the application has broken a rule, and no other connection can help.
void touch(std::span<const std::byte> first, std::span<const std::byte> second) {
  constexpr std::size_t kPage = 4096;
  for (const auto bytes : {first, second})
    for (std::size_t at = 0; at < bytes.size(); at += kPage) {
      [[maybe_unused]] const std::byte read = *static_cast<const volatile std::byte*>(bytes.data() + at);
    }
}
void touch(std::span<std::byte> bytes) {
  constexpr std::size_t kPage = 4096;
  for (std::size_t at = 0; at < bytes.size(); at += kPage) {
    volatile std::byte* const byte = bytes.data() + at;
    *byte = *byte;
  }
}

void make_blocking(int socket) {
  const int flags = ::fcntl(socket, F_GETFL);
  if (flags < 0 || ::fcntl(socket, F_SETFL, flags & ~O_NONBLOCK) < 0) throw StreamBroken(reason(errno));
}

}  // namespace

void set_stream_options(int socket) {
  constexpr int kProbes = 4;
  notice_lost_host(socket, 1s, kProbes, 5s);
  constexpr timeval kPatience{kStreamPatience.count(), 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
}

Stream::Stream(Fd socket, End end, StreamCipher cipher, const ConnectionKeys& keys)
    : socket_(std::move(socket)) {
  set_stream_options(socket_.get());
  make_blocking(socket_.get());
  if (cipher == StreamCipher::None) return;
  const bool connecting = end == End::Connecting;
  sealer_.emplace(cipher, connecting ? keys.to_worker : keys.from_worker, RecordCipher::Direction::Seal);
  opener_.emplace(cipher, connecting ? keys.from_worker : keys.to_worker, RecordCipher::Direction::Open);
}

void Stream::send(const RecordHeader& header, std::span<const std::byte> payload) {
  const RecordHeader::Message head = header.encode();
  const std::lock_guard lock(sending_);
  flush_rest();
  if (!sealer_) {
    write(head, payload);
    return;
  }
  sealer_->begin(head);
  sealed_.resize(std::min(payload.size(), kPiece));
  std::span<const std::byte> before = head;
  while (!payload.empty()) {
    const auto piece = payload.first(std::min(payload.size(), kPiece));
    payload = payload.subspan(piece.size());
    sealer_->transform(piece, sealed_.data());
    write(before, std::span(sealed_).first(piece.size()));
    before = {};
  }
  const RecordTag tag = sealer_->seal();
  write(before, std::as_bytes(std::span(tag)));
}

bool Stream::try_send(const RecordHeader& header) {
  const std::unique_lock lock(sending_, std::try_to_lock);
  if (!lock) return false;
  const RecordHeader::Message head = header.encode();
  rest_.insert(rest_.end(), head.begin(), head.end());
  if (sealer_) {
    sealer_->begin(head);
    const RecordTag tag = sealer_->seal();
    const auto bytes = std::as_bytes(std::span(tag));
    rest_.insert(rest_.end(), bytes.begin(), bytes.end());
  }
  const ssize_t count = ::send(socket_.get(), rest_.data(), rest_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count < 0 && errno != EAGAIN && errno != EINTR) throw StreamBroken(reason(errno));
  if (count > 0) rest_.erase(rest_.begin(), rest_.begin() + count);
  has_rest_.store(!rest_.empty(), std::memory_order_relaxed);
  return true;
}

void Stream::flush() {
  const std::lock_guard lock(sending_);
  flush_rest();
}

void Stream::flush_rest() {
  if (rest_.empty()) return;
  write(rest_, {});
  rest_.clear();
  has_rest_.store(false, std::memory_order_relaxed);
}

void Stream::write(std::span<const std::byte> first, std::span<const std::byte> second) {
  while (!first.empty() || !second.empty()) {
    std::array<iovec, 2> pieces{iovec{const_cast<std::byte*>(first.data()), first.size()},
                                iovec{const_cast<std::byte*>(second.data()), second.size()}};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t count = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (count < 0) {
      if (errno == EINTR) continue;
      const int error = errno;
      if (error == EFAULT) touch(first, second);
      throw StreamBroken(reason(error));
    }
    const auto sent = static_cast<std::size_t>(count);
    const std::size_t of_first = std::min(sent, first.size());
    first = first.subspan(of_first);
    second = second.subspan(sent - of_first);
  }
}

bool Stream::more() const {
  std::byte next{};
  return ::recv(socket_.get(), &next, 1, MSG_PEEK | MSG_DONTWAIT) > 0;
}

void Stream::read(std::byte* to, std::size_t size, bool idle) const {
  while (size > 0) {
    const ssize_t count = ::recv(socket_.get(), to, size, MSG_WAITALL);
    if (count == 0) throw StreamBroken("the other end closed the connection");
    if (count < 0) {
      if (errno == EINTR || (idle && errno == EAGAIN)) continue;
      const int error = errno;
      if (error == EFAULT) touch({to, size});
      throw StreamBroken(reason(error));
    }
    to += count;
    size -= static_cast<std::size_t>(count);
    idle = false;
  }
}

RecordHeader Stream::receive_header() {
  constexpr bool kIdle = true;
  read(header_.data(), header_.size(), kIdle);
  return RecordHeader::decode(header_);
}

void Stream::receive_payload(const RecordHeader& header, std::byte* to) {
  if (!opener_) {
    read(to, header.size);
    return;
  }
  opener_->begin(header_);
  for (std::size_t at = 0; at < header.size; at += kPiece) {
    const std::size_t piece = std::min(kPiece, header.size - at);
    read(to + at, piece);
    opener_->transform({to + at, piece}, to + at);
  }
  RecordTag tag{};
  read(reinterpret_cast<std::byte*>(tag.data()), tag.size());
  opener_->verify(tag);
}

void Stream::shut() const {
  ::shutdown(socket_.get(), SHUT_RDWR);
}

DialledStream dial_stream(const std::string& endpoint, StreamRequest request, bool encrypt,
                          std::span<const std::uint8_t> secret, const std::function<bool()>& stop) {
  request.cipher = encrypt ? preferred_cipher() : StreamCipher::None;
  fill_random(request.nonce);
  Fd socket = connect_to(endpoint, stop);
  send_first(socket.get(), request.encode(secret));
  StreamAnswer::Message message{};
  receive_all(socket.get(), message, stop);
  const auto answer = StreamAnswer::decode(message, secret, request);
  if (!answer) throw StreamBroken(endpoint + " answers, but does not know the session's key");
  const ConnectionKeys keys =
      derive_keys(secret, request.nonce, answer->nonce, request.line, request.attempt);
  return {std::make_unique<Stream>(std::move(socket), Stream::End::Connecting, request.cipher, keys),
          answer->received};
}

std::unique_ptr<Stream> accept_stream(Fd socket, const StreamRequest& request,
                                      std::span<const std::uint8_t> secret, std::uint64_t received) {
  StreamAnswer answer;
  answer.received = received;
  fill_random(answer.nonce);
  const ConnectionKeys keys = derive_keys(secret, request.nonce, answer.nonce, request.line, request.attempt);
  send_first(socket.get(), answer.encode(secret, request));
  return std::make_unique<Stream>(std::move(socket), Stream::End::Accepting, request.cipher, keys);
}

}  // namespace clique::protocol
