// Who is admitted to a worker's sockets, encrypted (CURVE) and not (PLAIN).
#include "protocol/transport/authentication.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "protocol/fd.hpp"
#include "protocol/transport/monitor.hpp"

namespace clique::protocol {
namespace {

using Role = Authenticator::Role;

constexpr int kPatienceMs = 20000;

/// A worker's sockets, whose parameter says what is encrypted.
class Authentication : public ::testing::TestWithParam<Encryption> {
 protected:
  void SetUp() override {
    for (const Role role : {Role::Client, Role::Peer}) {
      zmq::socket_t& socket = router(role);
      socket.set(zmq::sockopt::linger, 0);
      authenticator.guard(socket, role);
      socket.bind("tcp://127.0.0.1:*");
    }
  }

  zmq::socket_t& router(Role role) { return role == Role::Client ? commands : peers; }

  /// A connection attempt with a pass, which sends a word if it is admitted.
  struct Guest {
    Guest(Authentication& test, Role to, const Pass& pass, const std::string& word)
        : socket(test.zmq, zmq::socket_type::dealer) {
      socket.set(zmq::sockopt::linger, 0);
      present(socket, pass);
      monitor.emplace(test.zmq, socket);
      socket.connect(test.router(to).get(zmq::sockopt::last_endpoint));
      socket.send(zmq::buffer(word), zmq::send_flags::none);
    }
    ~Guest() { monitor->stop(socket); }
    /// Waits until the connection has ended. @returns how
    Monitor::End end() {
      pollfd news{monitor->descriptor(), POLLIN, 0};
      const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
      while (monitor->end() == Monitor::End::None && std::chrono::steady_clock::now() < limit)
        ::poll(&news, 1, 50);
      return monitor->end();
    }
    zmq::socket_t socket;
    std::optional<Monitor> monitor;
  };

  /// The next word that arrives at the socket, and the id of its sender.
  std::pair<std::string, std::string> next(Role role) {
    zmq::socket_t& socket = router(role);
    socket.set(zmq::sockopt::rcvtimeo, kPatienceMs);
    zmq::message_t id, word;
    if (!socket.recv(id) || !socket.recv(word)) return {"", "nothing arrived"};
    return {id.to_string(), word.to_string()};
  }

  /// The guest is rejected, and the socket learns nothing of it: the next word is that of a guest who is
  /// admitted.
  void expect_rejected(Role to, const Pass& pass) {
    Guest stranger(*this, to, pass, "stranger");
    const Monitor::End end = stranger.end();
    EXPECT_TRUE(end == Monitor::End::Handshake || end == Monitor::End::Closed) << static_cast<int>(end);
    const Guest honest(*this, to, authenticator.pass(to), "honest");
    EXPECT_EQ(next(to).second, "honest");
  }

  static bool curve() { return GetParam() != Encryption::None; }
  Pass pass(Role role) const { return authenticator.pass(role); }

  zmq::context_t zmq;
  Authenticator authenticator{zmq, GetParam()};
  zmq::socket_t commands{zmq, zmq::socket_type::router};
  zmq::socket_t peers{zmq, zmq::socket_type::router};
};

TEST_P(Authentication, AdmitsWhoHasTheRolesPass) {
  for (const Role role : {Role::Client, Role::Peer}) {
    const Guest guest(*this, role, pass(role), "hello");
    const auto [id, word] = next(role);
    EXPECT_EQ(word, "hello");
    EXPECT_EQ(id.size(), 5U);
    EXPECT_EQ(id.at(0), '\0');
  }
}

TEST_P(Authentication, PassesSayWhatIsEncrypted) {
  EXPECT_EQ(pass(Role::Client).encryption(), GetParam());
  EXPECT_EQ(pass(Role::Peer).encryption(), GetParam());
}

TEST_P(Authentication, RejectsThePassOfTheOtherRole) {
  expect_rejected(Role::Client, pass(Role::Peer));
  expect_rejected(Role::Peer, pass(Role::Client));
}

TEST_P(Authentication, RejectsAPassOfAnotherWorker) {
  zmq::context_t elsewhere;
  const Authenticator other(elsewhere, GetParam());
  expect_rejected(Role::Client, other.pass(Role::Client));
  if (curve()) expect_rejected(Role::Client, {pass(Role::Client).worker, other.pass(Role::Client).secret});
}

TEST_P(Authentication, RejectsAPassThatIsAlmostRight) {
  Pass wrong = pass(Role::Client);
  char& first = wrong.secret.at(0);
  first = first == '0' ? '1' : '0';
  expect_rejected(Role::Client, wrong);
  if (curve()) return;
  expect_rejected(Role::Client, {"", pass(Role::Client).secret + "x"});
  expect_rejected(Role::Client, {"", pass(Role::Client).secret.substr(1)});
}

TEST_P(Authentication, RejectsWhoHasNoPass) {
  expect_rejected(Role::Client, {});
  expect_rejected(Role::Peer, {});
}

TEST_P(Authentication, RejectsTheOtherMechanism) {
  zmq::context_t elsewhere;
  const Authenticator other(elsewhere, curve() ? Encryption::None : Encryption::All);
  expect_rejected(Role::Client, other.pass(Role::Client));
}

TEST_P(Authentication, AllPassesDiffer) {
  zmq::context_t elsewhere;
  const Authenticator other(elsewhere, GetParam());
  const std::array secrets{pass(Role::Client).secret, pass(Role::Peer).secret,
                           other.pass(Role::Client).secret, other.pass(Role::Peer).secret};
  for (std::size_t i = 0; i < secrets.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(secrets.at(i), secrets.at(j));
}

std::string greeting(const std::string& mechanism) {
  std::string text("\xff\0\0\0\0\0\0\0\1\x7f\3\0", 12);
  text += mechanism + std::string(20 - mechanism.size(), '\0');
  return text + std::string(32, '\0');
}

/// A property of ZMTP's READY and INITIATE.
std::string property(const std::string& name, const std::string& value) {
  return std::string(1, static_cast<char>(name.size())) + name + std::string(3, '\0') +
         std::string(1, static_cast<char>(value.size())) + value;
}

std::string command(const std::string& name, const std::string& body) {
  const std::string text = std::string(1, static_cast<char>(name.size())) + name + body;
  return std::string("\4", 1) + std::string(1, static_cast<char>(text.size())) + text;
}

/// A peer that sends what it likes, whatever the socket answers.
class Stranger {
 public:
  Stranger(zmq::socket_t& to, const std::string& mechanism, const std::string& commands)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const std::string endpoint = to.get(zmq::sockopt::last_endpoint);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
    constexpr timeval kLimit{kPatienceMs / 1000, 0};
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &kLimit, sizeof kLimit);
    send(greeting(mechanism));
    // What comes before its greeting has been sent, ZeroMQ does not read as commands.
    std::array<char, 64> theirs{};
    static_cast<void>(::recv(socket_.get(), theirs.data(), theirs.size(), MSG_WAITALL));
    send(commands);
  }

  /// Waits until the socket closes the connection. @returns whether it does
  bool rejected() {
    std::array<char, 4096> answer{};
    ssize_t size = 0;
    while ((size = ::recv(socket_.get(), answer.data(), answer.size(), 0)) > 0) {
    }
    return size == 0 || errno == ECONNRESET;
  }

 private:
  void send(const std::string& bytes) {
    static_cast<void>(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }

  Fd socket_;
};

TEST_P(Authentication, ForgedIdsOfConnectionsDoNotArrive) {
  // ROUTER sockets count the ids of their connections up, and a peer that chooses the next one would end the
  // process.
  const Guest first(*this, Role::Client, pass(Role::Client), "first");
  const std::string id = next(Role::Client).first;
  ASSERT_EQ(id.size(), 5U);
  std::uint32_t number = 0;
  std::memcpy(&number, id.data() + 1, sizeof number);
  number = ntohl(number);
  std::vector<Stranger> strangers;
  const std::string word("\0\5forge", 7);
  const std::string login("\6clique\5wrong", 13);
  for (std::uint32_t i = 1; i <= 64 && !HasFailure(); ++i) {
    const std::uint32_t guess = htonl(number + i);
    const std::string forged = std::string(1, '\0') + std::string(reinterpret_cast<const char*>(&guess), 4);
    const std::string ready = property("Socket-Type", "DEALER") + property("Identity", forged);
    // Strangers who ignore what the worker asks for.
    strangers.emplace_back(commands, "NULL", command("READY", ready) + word);
    EXPECT_TRUE(strangers.back().rejected());
    strangers.emplace_back(commands, "PLAIN", command("HELLO", login) + command("INITIATE", ready) + word);
    EXPECT_TRUE(strangers.back().rejected());
    strangers.emplace_back(commands, "CURVE", command("HELLO", std::string(194, 'x')) + word);
    EXPECT_TRUE(strangers.back().rejected());
  }
  std::vector<std::unique_ptr<Guest>> guests;
  for (int i = 0; i < 64; ++i) {
    guests.push_back(std::make_unique<Guest>(*this, Role::Client, pass(Role::Client), "honest"));
    EXPECT_EQ(next(Role::Client).second, "honest");
  }
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, Authentication,
                         ::testing::Values(Encryption::None, Encryption::Commands, Encryption::All),
                         [](const auto& info) { return std::string(to_text(info.param)); });

}  // namespace
}  // namespace clique::protocol
