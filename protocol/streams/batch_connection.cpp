#include "protocol/streams/batch_connection.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <string>
#include <utility>

#include "protocol/decode_error.hpp"
#include "protocol/limits.hpp"
#include "protocol/streams/stream.hpp"
#include "protocol/streams/touch.hpp"
#include "protocol/throw_errno.hpp"

namespace clique::protocol {

namespace {

/// What is received at once if it is not known to belong to a large record.
constexpr std::size_t kBuffer = 64 * kKiB;
/// After a record of this size, the next one is expected to be large, too.
constexpr std::size_t kLargeRecord = 16 * kKiB;
/// A record that arrives with fewer bytes per second than any link carries is not what the other end sends.
constexpr std::size_t kLeastRate = 16 * kKiB;
/// Pieces of memory that one system call sends.
constexpr std::size_t kPieces = 64;

using Piece = std::span<const std::byte>;

/// Calls function(bytes) for the header of a record, its head and its payloads, from the byte `from` on,
/// until that returns false.
template <typename F>
void for_each_piece(const OutgoingRecord& record, std::size_t from, F&& function) {
  const auto piece = [&](Piece bytes) {
    if (from >= bytes.size()) {
      from -= bytes.size();
      return true;
    }
    bytes = bytes.subspan(std::exchange(from, 0));
    return bytes.empty() || function(bytes);
  };
  if (!piece(record.header) || !piece(record.head)) return;
  for (const Payload& payload : record.payloads)
    if (!piece(payload.bytes)) return;
}

}  // namespace

bool too_slow(std::chrono::nanoseconds arriving, std::size_t bytes) {
  return arriving > kStreamPatience + std::chrono::seconds(bytes / kLeastRate);
}

BatchConnection::BatchConnection(Dialled connection, StreamEnd end)
    : socket_(std::move(connection.socket)),
      ciphers_(connection.cipher, connection.keys, end),
      buffer_(kBuffer) {
  set_stream_options(socket_.get());
}

bool BatchConnection::send(const OutgoingRecord& record) {
  const bool done = ciphers_.sealer ? send_sealed(record) : send_plain(record);
  begun_ = !done;
  if (done) sent_ = 0;
  return done;
}

bool BatchConnection::send_plain(const OutgoingRecord& record) {
  const std::size_t size = record.header.size() + record.size();
  while (sent_ < size) {
    std::array<Piece, kPieces> pieces;
    std::size_t count = 0;
    for_each_piece(record, sent_, [&](Piece bytes) {
      pieces[count++] = bytes;
      return count < pieces.size();
    });
    const std::size_t taken = write(std::span(pieces).first(count));
    if (taken == 0) return false;
    sent_ += taken;
  }
  return true;
}

bool BatchConnection::send_sealed(const OutgoingRecord& record) {
  if (!begun_) {
    ciphers_.sealer->begin(record.header);
    tagged_ = false;
    sealed_.assign(record.header.begin(), record.header.end());
    sealed_sent_ = 0;
    sent_ = record.header.size();
    seal_piece(record);
  }
  for (;;) {
    while (sealed_sent_ < sealed_.size()) {
      const std::array<Piece, 1> rest{Piece(sealed_).subspan(sealed_sent_)};
      const std::size_t taken = write(rest);
      if (taken == 0) return false;
      sealed_sent_ += taken;
    }
    if (tagged_) return true;
    sealed_.clear();
    sealed_sent_ = 0;
    seal_piece(record);
  }
}

void BatchConnection::seal_piece(const OutgoingRecord& record) {
  const std::size_t size = record.header.size() + record.size();
  const std::size_t piece = std::min(kSealedPiece, size - sent_);
  std::size_t left = piece;
  std::size_t at = sealed_.size();
  sealed_.resize(at + piece);
  for_each_piece(record, sent_, [&](Piece bytes) {
    bytes = bytes.first(std::min(bytes.size(), left));
    ciphers_.sealer->transform(bytes, sealed_.data() + at);
    at += bytes.size();
    left -= bytes.size();
    return left > 0;
  });
  sent_ += piece;
  if (sent_ < size) return;
  const RecordTag tag = ciphers_.sealer->seal();
  const Piece bytes = std::as_bytes(std::span(tag));
  sealed_.insert(sealed_.end(), bytes.begin(), bytes.end());
  tagged_ = true;
}

std::size_t BatchConnection::write(std::span<const Piece> pieces) {
  std::array<iovec, kPieces> vectors;
  std::transform(pieces.begin(), pieces.end(), vectors.begin(),
                 [](Piece bytes) { return iovec{const_cast<std::byte*>(bytes.data()), bytes.size()}; });
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = pieces.size();
  for (;;) {
    const ssize_t count = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EINTR) continue;
    if (errno == EAGAIN) return 0;
    const int error = errno;
    if (error == EFAULT)
      for (const Piece bytes : pieces) touch(bytes);
    throw StreamBroken(error_text(error));
  }
}

std::size_t BatchConnection::read(std::span<std::byte> to) {
  for (;;) {
    const ssize_t count = ::recv(socket_.get(), to.data(), to.size(), MSG_DONTWAIT);
    if (count > 0) {
      heard_ = true;
      drained_ = static_cast<std::size_t>(count) < to.size();
      return static_cast<std::size_t>(count);
    }
    if (count == 0) throw StreamClosed();
    if (errno == EINTR) continue;
    if (errno != EAGAIN) throw StreamBroken(error_text(errno));
    return 0;
  }
}

bool BatchConnection::begin_record() {
  while (filled_ - unread_ < head_.size()) {
    // The last call returned less than there was room for: another one would find nothing.
    if (std::exchange(drained_, false)) return false;
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(unread_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(filled_), buffer_.begin());
    filled_ -= std::exchange(unread_, 0);
    // A large record is received where it is to stay: copying 64 KiB takes longer than another call.
    const std::size_t most = header_.size >= kLargeRecord ? head_.size() : buffer_.size();
    const std::size_t count = read(std::span(buffer_).subspan(filled_, most - filled_));
    if (count == 0) return false;
    filled_ += count;
  }
  std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(unread_), head_.size(), head_.begin());
  unread_ += head_.size();
  header_ = RecordHeader::decode(head_);
  if (header_.kind == RecordHeader::Kind::Part)
    throw DecodeError("a part of a large transfer on a connection for messages");
  if (ciphers_.opener) ciphers_.opener->begin(head_);
  // Large blocks take memory of the system when something is written to them only.
  block_ = std::make_shared_for_overwrite<std::byte[]>(expected());
  arrived_ = opened_ = 0;
  awaited_.reset();
  in_record_ = true;
  const std::size_t here = std::min(filled_ - unread_, expected());
  std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(unread_), here, block_.get());
  unread_ += here;
  took(here);
  return true;
}

void BatchConnection::took(std::size_t bytes) {
  arrived_ += bytes;
  if (!ciphers_.opener) return;
  const std::size_t end = std::min<std::size_t>(arrived_, header_.size);
  if (opened_ < end) {
    std::byte* const at = block_.get() + opened_;
    ciphers_.opener->transform({at, end - opened_}, at);
    opened_ = end;
  }
}

bool BatchConnection::receive(Record& record) {
  if (!in_record_ && !begin_record()) return false;
  while (arrived_ < expected()) {
    // In pieces that are still in the core's cache when they are decrypted.
    const std::size_t piece =
        ciphers_.opener ? std::min(kSealedPiece, expected() - arrived_) : expected() - arrived_;
    const std::size_t count = read({block_.get() + arrived_, piece});
    if (count == 0) {
      await_rest();
      return false;
    }
    took(count);
  }
  finish_record(record);
  return true;
}

void BatchConnection::await_rest() {
  const auto now = std::chrono::steady_clock::now();
  if (!awaited_) awaited_ = now;
  if (too_slow(now - *awaited_, arrived_))
    throw StreamBroken("a message of " + std::to_string(header_.size) + " bytes, of which " +
                       std::to_string(arrived_) + " have come, takes too long");
}

void BatchConnection::finish_record(Record& record) {
  in_record_ = false;
  if (ciphers_.opener) {
    RecordTag tag{};
    std::copy_n(reinterpret_cast<const std::uint8_t*>(block_.get() + header_.size), tag.size(), tag.begin());
    ciphers_.opener->verify(tag);
  }
  record.kind = header_.kind;
  record.received = header_.transfer;
  record.batch = {};
  const std::shared_ptr<std::byte[]> block = std::move(block_);
  if (header_.kind == RecordHeader::Kind::Batch)
    record.batch = read_batch({block.get(), header_.size}, block);
}

}  // namespace clique::protocol
