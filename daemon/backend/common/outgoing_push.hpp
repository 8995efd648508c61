#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "daemon/worker/connections/peer_links.hpp"
#include "protocol/image_shape.hpp"
#include "protocol/messages.hpp"

namespace clique::daemon {

/// A Push on its way to the peer: which part to read next, and what the peer is told. Main thread, unless
/// said otherwise.
class OutgoingPush {
 public:
  /// One part, to be read from the object.
  struct Part {
    std::uint64_t offset = 0;    ///< in the push
    protocol::ImageBlock block;  ///< of an image, what to read; of a buffer, only the size counts
  };

  /// @param image the pushed image's shape; nothing for a buffer
  OutgoingPush(PeerLinks& peers, protocol::Push message, std::optional<protocol::ImageShape> image)
      : peers_(peers), message_(std::move(message)), image_(image), size_(message_.size) {}

  const protocol::Push& message() const { return message_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t next_offset() const { return next_; }
  /// Whether next() has returned all parts. Any thread.
  bool all_read() const { return next_ == size_; }
  /// Whether fail() was called. Any thread.
  bool failed() const { return failed_; }

  /// Shortens the push to the bytes that have content, and tells the peer. Before the first next().
  /// @param number the content size, little endian
  void shorten(const std::array<std::uint8_t, 8>& number);
  /// The next part. Of an image, whole slices, else whole rows, else pixels.
  /// @param limit how many bytes it has at most
  Part next(std::uint64_t limit);
  /// To be called once for each part whose data has been sent, when its owner is released. Any thread.
  /// @returns whether the main thread has something to do: it reads another part; or, after the last part,
  /// lets go of the push
  bool part_sent();

  /// Sends a part. Any thread.
  /// @param owner released when the data was sent
  void send(std::uint64_t offset, std::span<const std::byte> data, std::shared_ptr<const void> owner) const;
  /// Tells the peer that nothing more comes. Any thread. @returns whether this is the first failure.
  bool fail(std::int32_t status);

  /// Tells the peer of a push that nothing of it comes.
  static void refuse(PeerLinks& peers, const protocol::Push& message, std::int32_t status);

 private:
  PeerLinks& peers_;
  const protocol::Push message_;
  const std::optional<protocol::ImageShape> image_;
  std::uint64_t size_;
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<std::uint64_t> on_the_way_ = 0;  // parts that part_sent() was not called for
  std::atomic<bool> failed_ = false;
};

}  // namespace clique::daemon
