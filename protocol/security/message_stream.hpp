#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace clique::protocol {

/// Splits a stream of bytes into messages, each preceded by its length (4 bytes, big-endian). Not
/// thread-safe.
class MessageStream {
 public:
  /// @param longest message to accept, in bytes
  explicit MessageStream(std::size_t longest) : longest_(longest) {}

  /// Appends received bytes. Throws SecurityError if a message is longer than allowed; the stream is unusable
  /// then.
  void append(std::string_view bytes);
  /// The next complete message; null if there is none.
  std::shared_ptr<const std::string> next();

  /// A message with its length, as append() expects it.
  static std::string framed(std::span<const std::byte> message);

 private:
  const std::size_t longest_;
  std::string rest_;  // not yet a whole message
  std::deque<std::shared_ptr<const std::string>> messages_;
};

}  // namespace clique::protocol
