#include "protocol/security/message_stream.hpp"

#include "protocol/security/public_key.hpp"

namespace clique::protocol {

namespace {
constexpr std::size_t kLengthBytes = 4;
}

void MessageStream::append(std::string_view bytes) {
  rest_.append(bytes);
  std::size_t begin = 0;
  while (rest_.size() - begin >= kLengthBytes) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
      length = (length << 8U) | static_cast<unsigned char>(rest_[begin + i]);
    if (length > longest_)
      throw SecurityError("a message has " + std::to_string(length) + " bytes; at most " +
                          std::to_string(longest_) + " are allowed");
    if (rest_.size() - begin < kLengthBytes + length) break;
    messages_.push_back(std::make_shared<const std::string>(rest_, begin + kLengthBytes, length));
    begin += kLengthBytes + length;
  }
  rest_.erase(0, begin);
}

std::shared_ptr<const std::string> MessageStream::next() {
  if (messages_.empty()) return nullptr;
  auto message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

std::string MessageStream::framed(std::span<const std::byte> message) {
  std::string bytes;
  for (std::size_t i = kLengthBytes; i-- > 0;)
    bytes.push_back(static_cast<char>((message.size() >> (8 * i)) & 0xffU));
  return bytes.append(reinterpret_cast<const char*>(message.data()), message.size());
}

}  // namespace clique::protocol
