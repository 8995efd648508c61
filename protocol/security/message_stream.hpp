#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace clique::protocol {

/// Cuts a stream of bytes into messages: each is its length (4 bytes, big-endian) and that many bytes. Not
/// thread-safe.
class MessageStream {
 public:
  /// @param longest message to accept, in bytes
  explicit MessageStream(std::size_t longest) : longest_(longest) {}

  /// Appends what has arrived. Throws SecurityError if a message is longer than allowed; the stream cannot be
  /// used any more then.
  void append(std::string_view bytes);
  /// The next complete message; null: there is none.
  std::shared_ptr<const std::string> next();

  /// A message as append() takes it.
  static std::string framed(std::span<const std::byte> message);

 private:
  const std::size_t longest_;
  std::string rest_;  // not yet a whole message
  std::deque<std::shared_ptr<const std::string>> messages_;
};

}  // namespace clique::protocol
