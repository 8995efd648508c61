// Bytes on a connection with the daemon, from somebody who has no key: to the node, to the client, or between
// both, where messages may be changed, repeated, dropped and delayed. Whatever that is, each side receives
// nothing but what the other has sent, and in this order.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "protocol/messages/session.hpp"
#include "protocol/security/tls.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_tls_channel {
namespace {

using namespace clique::protocol;

constexpr std::size_t kLongestMessage = 4U << 10U;
constexpr std::size_t kMostSteps = 64;
/// Turns in which a handshake completes if nobody interferes.
constexpr int kHandshake = 4;

std::array<Fd, 2> connection() {
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0,
          "the system has sockets");
  return {Fd(ends[0]), Fd(ends[1])};
}

/// What has arrived at a socket.
std::string received(const Fd& socket) {
  static std::array<char, 64U << 10U> bytes;
  const ssize_t size = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
  return {bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

/// One end of the connection, and the attacker's end of its wire.
class End {
 public:
  explicit End(TlsContext::Role role) : End(role, connection()) {}

  PublicKey key() const { return identity().public_key(); }
  TlsChannel& channel() { return channel_; }
  /// What it wants to send, encrypted.
  std::string bytes() const { return received(wire_); }
  void deliver(std::string_view bytes) {
    if (!bytes.empty() && ::send(wire_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return;
    channel_.work();
    while (const auto message = channel_.receive()) got_.push_back(*message);
  }
  void hang_up() {
    wire_ = Fd();
    channel_.work();
  }
  /// Sends its next message.
  void say() {
    Batch batch;
    batch.add(Refused{std::to_string(said_.size())});
    said_.emplace_back(text_of(batch.records()));
    channel_.send(batch);
    channel_.work();
  }
  /// Whether it has received nothing but what the other end said.
  bool believes(const End& other) const {
    return got_.size() <= other.said_.size() && std::equal(got_.begin(), got_.end(), other.said_.begin());
  }

 private:
  End(TlsContext::Role role, std::array<Fd, 2>&& ends)
      : role_(role),
        wire_(std::move(ends[0])),
        channel_(role == TlsContext::Role::Node ? context<TlsContext::Role::Node>()
                                                : context<TlsContext::Role::Client>(),
                 std::move(ends[1]), kLongestMessage) {}
  const Identity& identity() const {
    return role_ == TlsContext::Role::Node ? identity_of<TlsContext::Role::Node>()
                                           : identity_of<TlsContext::Role::Client>();
  }
  template <TlsContext::Role role>
  static const Identity& identity_of() {
    static const Identity one = Identity::generate();
    return one;
  }
  template <TlsContext::Role role>
  static const TlsContext& context() {
    static const TlsContext one(role, identity_of<role>());
    return one;
  }

  const TlsContext::Role role_;
  Fd wire_;
  TlsChannel channel_;
  std::vector<std::string> said_;
  std::vector<std::string> got_;
};

/// Everything comes from the input.
void attack(Input& input, TlsContext::Role role) {
  const std::size_t piece = std::max<std::size_t>(input.number<std::uint8_t>(), 1) * 16;
  End victim(role);
  while (!input.empty() && !victim.channel().ended()) {
    victim.deliver(text_of(input.take(piece)));
    static_cast<void>(victim.bytes());
    require(!victim.channel().open(), "nobody completes a handshake without the other end's answers");
  }
  victim.hang_up();
  require(victim.channel().ended(), "the end of a connection is noticed");
}

/// What the attacker does with the bytes that are on their way from one end to the other.
void interfere(Input& input, std::string& bytes, End& to) {
  const auto number = [&] { return std::min<std::size_t>(input.number<std::uint8_t>() * 4U, bytes.size()); };
  switch (input.number<std::uint8_t>() % 6) {
    case 0: {
      const std::string all = std::exchange(bytes, {});
      return to.deliver(all);
    }
    case 1: {
      const std::string first = bytes.substr(0, number());
      bytes.erase(0, first.size());
      return to.deliver(first);
    }
    case 2:
      if (bytes.empty()) return;
      bytes[input.number<std::uint16_t>() % bytes.size()] ^=
          static_cast<char>(1 + input.number<std::uint8_t>() % 255);
      return;
    case 3:
      bytes.erase(0, number());
      return;
    case 4:
      bytes.insert(0, bytes.substr(0, number()));
      return;
    default: {
      const std::string_view other = text_of(input.take(input.number<std::uint8_t>()));
      bytes.insert(number(), other);
    }
  }
}

void stand_between(Input& input) {
  std::array<End, 2> ends{End(TlsContext::Role::Client), End(TlsContext::Role::Node)};
  std::array<std::string, 2> under_way;
  const auto collect = [&] {
    for (std::size_t i = 0; i < 2; ++i) under_way.at(i) += ends.at(i).bytes();
  };
  ends[0].channel().work();
  const int honest = input.number<std::uint8_t>() % (kHandshake + 1);
  for (int turn = 0; turn < honest; ++turn)
    for (std::size_t i = 0; i < 2; ++i) {
      collect();
      ends.at(1 - i).deliver(std::exchange(under_way.at(i), {}));
    }
  if (honest == kHandshake)
    require(ends[0].channel().open() && ends[1].channel().open(), "undisturbed handshakes complete");
  for (std::size_t step = 0; step < kMostSteps && !input.empty(); ++step) {
    const std::size_t from = input.number<std::uint8_t>() & 1U;
    if (ends.at(from).channel().open()) ends.at(from).say();
    collect();
    interfere(input, under_way.at(from), ends.at(1 - from));
    for (std::size_t i = 0; i < 2; ++i) {
      require(ends.at(i).believes(ends.at(1 - i)), "messages are those that the other end has sent");
      require(!ends.at(i).channel().open() || ends.at(i).channel().peer() == ends.at(1 - i).key(),
              "nobody takes another for the other end");
    }
  }
}

/// An input is what the attacker does (to the node, to the client, between both), and for the last the number
/// of turns that he leaves alone, then for each step the direction, what he does, and with how much.
std::vector<std::string> seeds() {
  End client(TlsContext::Role::Client);
  client.channel().work();
  const std::string hello = client.bytes();
  End node(TlsContext::Role::Node);
  node.deliver(hello);
  const std::string answer = node.bytes();
  const std::string whole_handshake = "\2\4";
  const auto input = [](std::initializer_list<std::uint8_t> head, const std::string& rest = {}) {
    return std::string(head.begin(), head.end()) + rest;
  };
  return {input({0, 0xff}, hello),
          input({0, 1}, hello + hello),
          input({0, 0xff}, "GET / HTTP/1.1\r\n\r\n"),
          input({1, 0xff}, answer),
          input({1, 4}, answer + answer),
          input({2, 4, 0, 0, 1, 0, 0, 1, 4, 1, 1, 2, 0, 0}),
          input({2, 4, 0, 2, 5, 0, 1, 0, 0, 0, 0, 1, 0}),
          input({2, 4, 0, 4, 0xff, 0, 0, 1, 3, 8, 1, 0}),
          input({2, 1, 0, 2, 0x40, 0, 1, 0, 0, 1, 0})};
}

void test(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  try {
    switch (input.number<std::uint8_t>() % 3) {
      case 0:
        attack(input, TlsContext::Role::Node);
        break;
      case 1:
        attack(input, TlsContext::Role::Client);
        break;
      default:
        stand_between(input);
    }
  } catch (const SecurityError&) {
    return;
  }
}

const Registration kTarget{"tls_channel", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_tls_channel
