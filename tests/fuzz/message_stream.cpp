// What clients send to the daemon's gate inside of TLS, before they are admitted: messages, cut anywhere.
#include "protocol/security/message_stream.hpp"

#include <optional>

#include "protocol/batch.hpp"
#include "protocol/decode_error.hpp"
#include "protocol/messages/session.hpp"
#include "protocol/security/public_key.hpp"
#include "tests/fuzz/filler.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_message_stream {
namespace {

using namespace clique::protocol;

/// The gate's limit.
constexpr std::size_t kLongest = 4U << 10U;

/// The messages of a stream that arrives in pieces; nothing if it is refused.
std::optional<std::vector<std::string>> messages_of(std::string_view stream, std::size_t piece) {
  MessageStream messages(kLongest);
  std::vector<std::string> all;
  try {
    for (; !stream.empty(); stream.remove_prefix(std::min(piece, stream.size()))) {
      messages.append(stream.substr(0, piece));
      while (const auto message = messages.next()) all.push_back(*message);
    }
  } catch (const SecurityError&) {
    return std::nullopt;
  }
  return all;
}

void read_hello(const std::string& records) {
  try {
    BatchReader().read(MessageList<Hello>{}, bytes_of(records), {}, nullptr, [](Hello&&) {});
  } catch (const DecodeError&) {
    return;
  }
}

std::vector<std::string> seeds() {
  Batch hello;
  hello.add(filled<Hello>());
  const std::string message = MessageStream::framed(hello.records());
  return {'\x05' + message, '\x01' + message + message, '\x40' + MessageStream::framed({})};
}

void test(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::size_t piece = std::max<std::size_t>(input.number<std::uint8_t>(), 1);
  const std::string_view stream = text_of(input.rest());
  const auto pieces = messages_of(stream, piece);
  require(pieces == messages_of(stream, std::string_view::npos), "it does not matter where a stream is cut");
  if (pieces)
    for (const std::string& message : *pieces) read_hello(message);
}

const Registration kTarget{"message_stream", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_message_stream
