// Strangers that connect to the ports of a session must not disturb it.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "nodes.hpp"

namespace clique::test {

namespace {

/// A TCP connection to a port of this host.
class Connection {
 public:
  explicit Connection(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  Connection(Connection&& other) noexcept : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  Connection& operator=(Connection&&) = delete;
  ~Connection() {
    if (fd_ >= 0) ::close(fd_);
  }
  bool connected() const { return connected_; }
  /// Sends bytes. Does not fail if the other side closes the connection, which it may do at any time.
  void send(const std::string& bytes) const {
    static_cast<void>(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }

 private:
  int fd_;
  bool connected_;
};

/// The greeting of ZMTP 3.0 with the mechanism NULL, which every ZeroMQ peer sends first.
std::string greeting() {
  std::string text = std::string("\xFF\0\0\0\0\0\0\0\x01\x7F\x03\0", 12) + "NULL";
  text.resize(64, '\0');
  return text;
}

/// ZMTP's READY of a DEALER.
std::string ready() {
  const std::string body = std::string("\x05READY\x0BSocket-Type\0\0\0\x06", 6 + 12 + 4) + "DEALER";
  return std::string("\x04", 1) + static_cast<char>(body.size()) + body;
}

std::string frame(const std::string& body, bool more = false) {
  std::string header(1, static_cast<char>(more ? 3 : 2));
  for (int shift = 56; shift >= 0; shift -= 8)
    header += static_cast<char>(body.size() >> static_cast<unsigned>(shift));
  return header + body;
}

std::string noise(std::mt19937& random, size_t size) {
  std::string text(size, '\0');
  for (char& byte : text) byte = static_cast<char>(random());
  return text;
}

}  // namespace

class Strangers : public TwoNodes {
 protected:
  /// Every port of the session on a node, and the daemon's.
  std::vector<int> ports(const Node& node) const {
    std::vector<int> result = listening_ports(node.worker());
    EXPECT_GE(result.size(), 3U) << "commands, reports and peers";
    result.push_back(node.port());
    return result;
  }

  template <typename Talk>
  void expect_unharmed(Talk&& talk) {
    for (const Queue& one : queues) expect_works(one, 3);
    std::vector<Connection> open;
    for (const Node& node : nodes) {
      for (const int port : ports(node)) {
        open.emplace_back(port);
        ASSERT_TRUE(open.back().connected()) << "port " << port;
        talk(open.back());
        for (const Queue& one : queues) expect_works(one, 4);
      }
    }
    for (cl_uint factor = 5; factor < 25; ++factor) expect_works(queues[factor % 2], factor);
    for (Node& node : nodes) {
      EXPECT_TRUE(alive(node.daemon().pid()));
      EXPECT_TRUE(alive(node.worker()));
    }
    // A new client must be able to open a session, too.
    Child later = start_test("ClientProcess.DISABLED_EndsInOrder", {});
    EXPECT_EQ(0, later.wait(std::chrono::seconds(60))) << later.output();
  }

  std::mt19937 random{20240607};
};

TEST_F(Strangers, Noise) {
  expect_unharmed([&](Connection& connection) { connection.send(noise(random, 100'000)); });
}

TEST_F(Strangers, AnotherProtocol) {
  expect_unharmed(
      [](Connection& connection) { connection.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); });
}

TEST_F(Strangers, Silence) {
  expect_unharmed([](Connection&) {});
}

TEST_F(Strangers, NoiseInZeroMqFrames) {
  expect_unharmed([&](Connection& connection) {
    connection.send(greeting() + ready());
    for (int i = 0; i < 50; ++i) connection.send(frame(noise(random, 1 + random() % 300), i % 3 == 0));
  });
}

TEST_F(Strangers, FramesThatPromiseTooMuch) {
  expect_unharmed([](Connection& connection) {
    connection.send(greeting() + ready());
    std::string header("\x02\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 9);
    connection.send(header + "and then nothing");
  });
}

TEST_F(Strangers, MessagesInDisorder) {
  // msgpack: arrays of arrays, huge counts without content, deep nesting.
  expect_unharmed([](Connection& connection) {
    connection.send(greeting() + ready());
    connection.send(frame(std::string("\xDD\xFF\xFF\xFF\xFF", 5)));
    connection.send(frame(std::string(50'000, '\x91')));
    for (int op = 0; op < 128; ++op)
      connection.send(frame(std::string("\x92") + static_cast<char>(op) + "\x90"));
    connection.send(frame(std::string("\x92\x01\x91\xDB\x7F\xFF\xFF\xFF", 8)));
  });
}

TEST_F(Strangers, ManyConnections) {
  std::vector<Connection> many;
  expect_unharmed([&](Connection& connection) {
    connection.send(greeting() + ready());
    for (const int port : ports(nodes[0])) {
      for (int i = 0; i < 20; ++i) {
        many.emplace_back(port);
        many.back().send(greeting());
      }
    }
  });
}

}  // namespace clique::test
