// Connections that the daemon makes for workers.
#include "daemon/server/connections/dial_desk.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "protocol/streams/dial.hpp"

namespace clique::daemon {
namespace {

using protocol::DialFailed;
using protocol::StreamAnswer;
using protocol::StreamRequest;

constexpr int kDeskPatienceMs = 60'000;

class DialDesks : public testing::Test {
 protected:
  DialDesks() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_.get(), raw, size) != 0 || ::listen(listener_.get(), 4) != 0 ||
        ::getsockname(listener_.get(), raw, &size) != 0)
      throw std::system_error(errno, std::generic_category(), "listen");
    request_.number = 17;
    request_.endpoint = "tcp://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    request_.worker.fill(3);
    request_.secret = protocol::Bytes(32, 5);
    request_.line = 11;
    request_.attempt = 2;
    request_.received = 4;
  }
  /// The other end of the connection, and what has come on it.
  Fd accept(StreamRequest::Message& message) const {
    Fd connection(::accept(listener_.get(), nullptr, nullptr));
    EXPECT_EQ(::recv(connection.get(), message.data(), message.size(), MSG_WAITALL),
              static_cast<ssize_t>(message.size()));
    return connection;
  }
  template <typename Message>
  static void send(const Fd& connection, const Message& message) {
    EXPECT_EQ(::send(connection.get(), message.data(), message.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(message.size()));
  }
  DialDesk::Answer answer() {
    pollfd news{desk_.fd(), POLLIN, 0};
    if (::poll(&news, 1, kDeskPatienceMs) != 1) throw std::runtime_error("there is no answer");
    auto answers = desk_.done();
    EXPECT_EQ(answers.size(), 1U);
    EXPECT_TRUE(answers.at(0).is_for(account_));
    EXPECT_EQ(parse_dial_answer(answers[0].notice.request).number, request_.number);
    return std::move(answers[0]);
  }
  void expect_failure(DialFailed::Kind kind, const std::string& why) {
    const DialDesk::Answer failed = answer();
    EXPECT_FALSE(failed.socket);
    EXPECT_EQ(failed.notice.status, static_cast<std::int32_t>(kind));
    EXPECT_NE(failed.notice.text.find(why), std::string::npos) << failed.notice.text;
  }

  Fd listener_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  DialRequest request_;
  DialDesk desk_;
  DialDesk::Account account_;
};

TEST_F(DialDesks, GivenAWorkerThatKnowsTheSecretThenItsConnectionIsHandedOver) {
  desk_.dial(account_, request_);
  StreamRequest::Message message{};
  const Fd there = accept(message);
  EXPECT_TRUE(StreamRequest::authentic(message, request_.secret));
  const auto asked = StreamRequest::decode(message);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->worker, request_.worker);
  EXPECT_EQ(asked->role, StreamRequest::Role::Peer);
  EXPECT_EQ(asked->line, request_.line);
  EXPECT_EQ(asked->attempt, request_.attempt);
  EXPECT_EQ(asked->received, request_.received);
  StreamAnswer reply;
  reply.received = 6;
  reply.nonce.fill(8);
  send(there, reply.encode(request_.secret, *asked));
  const DialDesk::Answer made = answer();
  ASSERT_TRUE(made.socket);
  const DialAnswer told = parse_dial_answer(made.notice.request);
  const auto keys =
      protocol::derive_keys(request_.secret, asked->nonce, reply.nonce, asked->line, asked->attempt);
  EXPECT_EQ(told.cipher, asked->cipher);
  EXPECT_EQ(told.to_worker, keys.to_worker);
  EXPECT_EQ(told.from_worker, keys.from_worker);
  EXPECT_EQ(told.received, reply.received);
  send(made.socket, std::string("x"));
  char byte = 0;
  EXPECT_EQ(::recv(there.get(), &byte, 1, 0), 1);
}

TEST_F(DialDesks, GivenAnythingElseThenItIsNot) {
  StreamRequest::Message message{};
  {
    desk_.dial(account_, request_);
    const Fd there = accept(message);
    send(there, std::string(StreamAnswer::kBytes, 'x'));
    expect_failure(DialFailed::Kind::Other, "does not know the session's key");
    EXPECT_LE(::recv(there.get(), message.data(), 1, 0), 0) << "the connection is open";
  }
  {
    desk_.dial(account_, request_);
    const Fd there = accept(message);
    send(there, StreamAnswer::kNoSuchWorker);
    expect_failure(DialFailed::Kind::Gone, "has exited");
  }
  listener_ = Fd();
  desk_.dial(account_, request_);
  expect_failure(DialFailed::Kind::Refused, "cannot be reached");
  for (const char* endpoint : {"vsock://2:1", "tcp://127.0.0.1", "tcp://127.0.0.1:x", "", "/tmp/socket"}) {
    request_.endpoint = endpoint;
    desk_.dial(account_, request_);
    expect_failure(DialFailed::Kind::Other, "is not tcp://HOST:PORT");
  }
}

TEST_F(DialDesks, GivenAnAccountThenItHasRoomForSoMany) {
  for (std::size_t i = 0; i < kMostDials; ++i) {
    EXPECT_TRUE(account_.has_room());
    desk_.dial(account_, request_);
  }
  EXPECT_FALSE(account_.has_room());
  listener_ = Fd();
  std::size_t answers = 0;
  while (answers < kMostDials) {
    pollfd news{desk_.fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&news, 1, kDeskPatienceMs), 1);
    answers += desk_.done().size();
  }
  EXPECT_TRUE(account_.has_room());
}

TEST_F(DialDesks, GivenAWorkerHasEndedThenItsAttemptsAreGivenUp) {
  desk_.dial(account_, request_);
  StreamRequest::Message message{};
  const Fd there = accept(message);
  account_ = {};
  EXPECT_EQ(::recv(there.get(), message.data(), 1, 0), 0);
  pollfd news{desk_.fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&news, 1, kDeskPatienceMs), 1);
  EXPECT_TRUE(desk_.done().empty());
}

}  // namespace
}  // namespace clique::daemon
