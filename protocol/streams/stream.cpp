#include "protocol/streams/stream.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "protocol/limits.hpp"
#include "protocol/security/public_key.hpp"
#include "protocol/streams/touch.hpp"
#include "protocol/tcp.hpp"
#include "protocol/throw_errno.hpp"

namespace clique::protocol {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

void make_blocking(int socket) {
  const int flags = ::fcntl(socket, F_GETFL);
  if (flags < 0 || ::fcntl(socket, F_SETFL, flags & ~O_NONBLOCK) < 0) throw StreamBroken(error_text(errno));
}

}  // namespace

void set_stream_options(int socket) {
  constexpr int kProbes = 4;
  notice_lost_host(socket, 1s, kProbes, 5s);
  constexpr timeval kPatience{kStreamPatience.count(), 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
}

Stream::Stream(Dialled connection, StreamEnd end)
    : socket_(std::move(connection.socket)), ciphers_(connection.cipher, connection.keys, end) {
  set_stream_options(socket_.get());
  make_blocking(socket_.get());
}

void Stream::send(const RecordHeader& header, std::span<const std::byte> payload) {
  const RecordHeader::Message head = header.encode();
  const std::lock_guard lock(sending_);
  flush_rest();
  if (!ciphers_.sealer) {
    write(head, payload);
    return;
  }
  ciphers_.sealer->begin(head);
  if (!ciphers_.payloads) {
    // The tag comes before the payload, so that the size is authentic before anybody waits for that much.
    const RecordTag tag = ciphers_.sealer->seal();
    std::array<std::byte, head.size() + tag.size()> front{};
    std::ranges::copy(std::as_bytes(std::span(tag)), std::ranges::copy(head, front.begin()).out);
    write(front, payload);
    return;
  }
  sealed_.resize(std::min(payload.size(), kSealedPiece));
  std::span<const std::byte> before = head;
  while (!payload.empty()) {
    const auto piece = payload.first(std::min(payload.size(), kSealedPiece));
    payload = payload.subspan(piece.size());
    ciphers_.sealer->transform(piece, sealed_.data());
    write(before, std::span(sealed_).first(piece.size()));
    before = {};
  }
  const RecordTag tag = ciphers_.sealer->seal();
  write(before, std::as_bytes(std::span(tag)));
}

bool Stream::try_send(const RecordHeader& header) {
  const std::unique_lock lock(sending_, std::try_to_lock);
  if (!lock) return false;
  const RecordHeader::Message head = header.encode();
  rest_.insert(rest_.end(), head.begin(), head.end());
  if (ciphers_.sealer) {
    ciphers_.sealer->begin(head);
    const RecordTag tag = ciphers_.sealer->seal();
    const auto bytes = std::as_bytes(std::span(tag));
    rest_.insert(rest_.end(), bytes.begin(), bytes.end());
  }
  const ssize_t count = ::send(socket_.get(), rest_.data(), rest_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count < 0 && errno != EAGAIN && errno != EINTR) throw StreamBroken(error_text(errno));
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
      if (error == EFAULT) {
        touch(first);
        touch(second);
      }
      throw StreamBroken(error_text(error));
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
    if (count == 0) throw StreamClosed();
    if (count < 0) {
      if (errno == EINTR || (idle && errno == EAGAIN)) continue;
      const int error = errno;
      if (error == EFAULT) touch(std::span(to, size));
      throw StreamBroken(error_text(error));
    }
    to += count;
    size -= static_cast<std::size_t>(count);
    idle = false;
  }
}

RecordHeader Stream::receive_header() {
  constexpr bool kIdle = true;
  read(header_.data(), header_.size(), kIdle);
  if (ciphers_.opener && !ciphers_.payloads) {
    ciphers_.opener->begin(header_);
    verify_tag();
  }
  return RecordHeader::decode(header_);
}

void Stream::receive_payload(const RecordHeader& header, std::byte* to) {
  if (!ciphers_.payloads) {
    read(to, header.size);
    return;
  }
  ciphers_.opener->begin(header_);
  for (std::size_t at = 0; at < header.size; at += kSealedPiece) {
    const std::size_t piece = std::min(kSealedPiece, header.size - at);
    read(to + at, piece);
    ciphers_.opener->transform({to + at, piece}, to + at);
  }
  verify_tag();
}

void Stream::verify_tag() {
  RecordTag tag{};
  read(reinterpret_cast<std::byte*>(tag.data()), tag.size());
  ciphers_.opener->verify(tag);
}

std::optional<double> Stream::rate() const {
  return delivery_rate(socket_.get());
}

std::optional<Delivery> Stream::delivery() const {
  return protocol::delivery(socket_.get());
}

void Stream::shut() const {
  ::shutdown(socket_.get(), SHUT_RDWR);
}

}  // namespace clique::protocol
