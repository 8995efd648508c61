// A stream of bytes is cut into messages, wherever the network has cut it.
#include "protocol/security/message_stream.hpp"

#include <gtest/gtest.h>

#include "protocol/security/public_key.hpp"

namespace clique::protocol {
namespace {

std::string framed(std::string_view text) {
  return MessageStream::framed(std::as_bytes(std::span(text.data(), text.size())));
}

TEST(MessageStream, GivenMessagesInOnePieceThenTheyComeInOrder) {
  MessageStream stream(10);
  stream.append(framed("first") + framed("") + framed("the longest").substr(0, 2));
  EXPECT_EQ(*stream.next(), "first");
  EXPECT_EQ(*stream.next(), "");
  EXPECT_EQ(stream.next(), nullptr);
}

TEST(MessageStream, GivenSingleBytesThenAMessageComesWithItsLastOne) {
  MessageStream stream(10);
  const std::string bytes = framed("0123456789");
  for (const char byte : bytes) {
    EXPECT_EQ(stream.next(), nullptr);
    stream.append({&byte, 1});
  }
  EXPECT_EQ(*stream.next(), "0123456789");
}

TEST(MessageStream, GivenALengthOverTheLimitThenItIsRefusedBeforeTheMessageArrives) {
  MessageStream stream(10);
  EXPECT_THROW(stream.append(framed("0123456789a").substr(0, 4)), SecurityError);
}

TEST(MessageStream, GivenTheLengthOf258BytesThenItIsBigEndian) {
  EXPECT_EQ(framed(std::string(258, 'x')).substr(0, 4), std::string("\0\0\1\2", 4));
}

}  // namespace
}  // namespace clique::protocol
