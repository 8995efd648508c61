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
#include "protocol/streams/copy_past_caches.hpp"
#include "protocol/streams/touch.hpp"
#include "protocol/tcp.hpp"
#include "protocol/throw_errno.hpp"

namespace clique::protocol {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// A part of at least this size belongs to a transfer of many of them, which caches do not hold until the
/// application reads it.
constexpr std::size_t kPastCaches = kPartSize * 3 / 4;

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
  if (!tags_headers(ciphers_.sealing)) {
    send_sealed(head, payload);
    return;
  }
  // The tag comes before the payload, so that the size is authentic before anybody waits for that much.
  const RecordTag tag = ciphers_.sealer->seal();
  std::array<std::byte, head.size() + tag.size()> front{};
  std::ranges::copy(std::as_bytes(std::span(tag)), std::ranges::copy(head, front.begin()).out);
  if (ciphers_.sealing == Sealing::Pieces && !payload.empty())
    send_sealed(front, payload);
  else
    write(front, payload);
}

void Stream::send_sealed(std::span<const std::byte> before, std::span<const std::byte> payload) {
  const bool by_itself = ciphers_.sealing == Sealing::Pieces;
  RecordTag tag{};
  sealed_.resize(kSealedPiece + tag.size());
  do {
    const auto piece = payload.first(std::min(payload.size(), kSealedPiece));
    payload = payload.subspan(piece.size());
    if (by_itself) ciphers_.sealer->begin({});
    if (!piece.empty()) ciphers_.sealer->transform(piece, sealed_.data());
    std::size_t size = piece.size();
    if (by_itself || payload.empty()) {
      tag = ciphers_.sealer->seal();
      std::ranges::copy(std::as_bytes(std::span(tag)), sealed_.data() + size);
      size += tag.size();
    }
    write(before, std::span(sealed_).first(size));
    before = {};
  } while (!payload.empty());
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

void Stream::read(std::span<std::byte> first, std::span<std::byte> second, bool idle) const {
  while (!first.empty() || !second.empty()) {
    std::array<iovec, 2> pieces{iovec{first.data(), first.size()}, iovec{second.data(), second.size()}};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t count = ::recvmsg(socket_.get(), &message, MSG_WAITALL);
    if (count == 0) throw StreamClosed();
    if (count < 0) {
      if (errno == EINTR || (idle && errno == EAGAIN)) continue;
      const int error = errno;
      if (error == EFAULT) touch(first);
      throw StreamBroken(error_text(error));
    }
    const auto received = static_cast<std::size_t>(count);
    const std::size_t of_first = std::min(received, first.size());
    first = first.subspan(of_first);
    second = second.subspan(received - of_first);
    idle = false;
  }
}

RecordHeader Stream::receive_header() {
  constexpr bool kIdle = true;
  if (tags_headers(ciphers_.sealing)) {
    RecordTag tag{};
    read(header_, std::as_writable_bytes(std::span(tag)), kIdle);
    ciphers_.opener->begin(header_);
    ciphers_.opener->verify(tag);
  } else {
    read(header_, {}, kIdle);
  }
  return RecordHeader::decode(header_);
}

void Stream::receive_payload(const RecordHeader& header, std::byte* to) {
  const std::span payload(to, header.size);
  if (!seals_payloads()) {
    read(payload, {});
    return;
  }
  const bool whole = ciphers_.sealing == Sealing::Records;
  if (whole) ciphers_.opener->begin(header_);
  for (std::size_t at = 0; at < payload.size(); at += kSealedPiece) {
    const auto piece = payload.subspan(at, std::min(kSealedPiece, payload.size() - at));
    if (whole) {
      read(piece, {});
      ciphers_.opener->transform(piece, piece.data());
    } else {
      receive_piece(piece);
    }
  }
  if (!whole) return;
  RecordTag tag{};
  read(std::as_writable_bytes(std::span(tag)), {});
  ciphers_.opener->verify(tag);
}

void Stream::receive_piece(std::span<std::byte> piece) {
  RecordTag tag{};
  read(piece, std::as_writable_bytes(std::span(tag)));
  ciphers_.opener->begin({});
  ciphers_.opener->transform(piece, piece.data());
  ciphers_.opener->verify(tag);
}

void Stream::receive_verified(const RecordHeader& header, std::byte* to) {
  if (!seals_payloads()) {
    receive_payload(header, to);
    return;
  }
  piece_.resize(kSealedPiece);
  for (std::size_t at = 0; at < header.size; at += kSealedPiece) {
    const auto piece = std::span(piece_).first(std::min(kSealedPiece, header.size - at));
    receive_piece(piece);
    if (header.size >= kPastCaches)
      copy_past_caches(to + at, piece);
    else
      std::ranges::copy(piece, to + at);
  }
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
