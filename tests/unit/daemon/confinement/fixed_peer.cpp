// Connections whose holder cannot connect them to anything else.
#include "daemon/confinement/fixed_peer.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

#include "protocol/fd.hpp"

namespace clique::daemon::confinement {
namespace {

/// An address of this host, in the form of `family`.
class Loopback {
 public:
  Loopback(int family, const char* text) {
    storage_.ss_family = static_cast<sa_family_t>(family);
    if (family == AF_INET)
      ::inet_pton(family, text, &reinterpret_cast<sockaddr_in&>(storage_).sin_addr);
    else
      ::inet_pton(family, text, &reinterpret_cast<sockaddr_in6&>(storage_).sin6_addr);
  }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage_); }
  socklen_t size() const {
    return storage_.ss_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
  }
  Fd socket() const { return Fd(::socket(storage_.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
  /// Listens at a free port, which becomes that of this address.
  Fd listen() {
    Fd listener = socket();
    socklen_t length = size();
    if (::bind(listener.get(), get(), length) != 0 || ::listen(listener.get(), 4) != 0 ||
        ::getsockname(listener.get(), get(), &length) != 0)
      throw std::system_error(errno, std::generic_category(), "listen");
    return listener;
  }

 private:
  sockaddr_storage storage_{};
};

bool readable(int socket, int within_ms) {
  pollfd item{socket, POLLIN, 0};
  return ::poll(&item, 1, within_ms) > 0;
}

/// The form of the address by which a listener is reached, and what it listens as.
struct Way {
  const char* name;
  int family;
  const char* address;
};

class FixedPeers : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    try {
      try_fixing_a_peer();
      friend_listener_ = friend_.listen();
      other_listener_ = other_.listen();
    } catch (const std::exception& error) {
      GTEST_SKIP() << error.what();
    }
    socket_ = friend_.socket();
    ASSERT_EQ(::connect(socket_.get(), friend_.get(), friend_.size()), 0);
    accepted_ = Fd(::accept(friend_listener_.get(), nullptr, nullptr));
    ASSERT_TRUE(accepted_);
  }
  /// Dissolves a connection, and tries to connect the socket to somebody else. @returns whether it is
  /// connected
  bool connects_elsewhere(int socket) {
    const sockaddr none{};  // AF_UNSPEC
    EXPECT_EQ(::connect(socket, &none, sizeof none), 0);
    // Nothing tells that the answer to the connection was dropped but that time passes.
    const timeval limit{0, 300'000};
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return ::connect(socket, other_.get(), other_.size()) == 0;
  }

  static constexpr int kPatienceMs = 20'000;
  Loopback friend_{GetParam().family, GetParam().address};
  Loopback other_{GetParam().family, GetParam().address};
  Fd friend_listener_, other_listener_, socket_, accepted_;
};

TEST_P(FixedPeers, ReceiveFromTheirPeer) {
  for (const Fd* end : {&socket_, &accepted_}) fix_peer(end->get());
  std::string sent(3'000'000, 'x');
  for (const auto& [from, to] : {std::pair(&socket_, &accepted_), std::pair(&accepted_, &socket_)}) {
    std::size_t arrived = 0;
    std::size_t left = sent.size();
    std::array<char, 65536> block{};
    while (arrived < sent.size()) {
      if (left > 0) {
        const ssize_t size = ::send(from->get(), sent.data(), left, MSG_DONTWAIT);
        if (size > 0) left -= static_cast<std::size_t>(size);
      }
      if (left == 0) {
        ASSERT_TRUE(readable(to->get(), kPatienceMs));
      }
      const ssize_t size = ::recv(to->get(), block.data(), block.size(), MSG_DONTWAIT);
      if (size > 0) arrived += static_cast<std::size_t>(size);
    }
  }
  ::shutdown(accepted_.get(), SHUT_WR);
  EXPECT_TRUE(readable(socket_.get(), kPatienceMs));
}

TEST_P(FixedPeers, ConnectToNobodyElse) {
  fix_peer(accepted_.get());
  EXPECT_TRUE(connects_elsewhere(socket_.get())) << "the test would find nothing";
  EXPECT_TRUE(readable(other_listener_.get(), kPatienceMs));
  EXPECT_FALSE(connects_elsewhere(accepted_.get()));
}

TEST_P(FixedPeers, AreForEver) {
  fix_peer(socket_.get());
  constexpr int kOff = 0;
  EXPECT_NE(::setsockopt(socket_.get(), SOL_SOCKET, SO_DETACH_FILTER, &kOff, sizeof kOff), 0);
  EXPECT_NE(::setsockopt(socket_.get(), SOL_SOCKET, SO_LOCK_FILTER, &kOff, sizeof kOff), 0);
  EXPECT_FALSE(connects_elsewhere(socket_.get()));
}

TEST_P(FixedPeers, CannotBeFixedWhenTheConnectionHasEnded) {
  const linger at_once{1, 0};
  ::setsockopt(accepted_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  accepted_ = Fd();
  ASSERT_TRUE(readable(socket_.get(), kPatienceMs));
  EXPECT_THROW(fix_peer(socket_.get()), std::system_error);
}

INSTANTIATE_TEST_SUITE_P(, FixedPeers,
                         testing::Values(Way{"IPv4", AF_INET, "127.0.0.1"}, Way{"IPv6", AF_INET6, "::1"},
                                         Way{"IPv4InIPv6", AF_INET6, "::ffff:127.0.0.1"}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace clique::daemon::confinement
