#include "protocol/security/socket_owner.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "protocol/fd.hpp"

namespace clique::protocol {
namespace {

constexpr uid_t kNobody = 65534;

/// A socket that listens on the loopback address, and its address.
struct Listener {
  explicit Listener(int family) : socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (family == AF_INET6) {
      auto& v6 = reinterpret_cast<sockaddr_in6&>(address);
      v6.sin6_family = AF_INET6;
      v6.sin6_addr = in6addr_loopback;
    } else {
      auto& v4 = reinterpret_cast<sockaddr_in&>(address);
      v4.sin_family = AF_INET;
      v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    }
    usable = ::bind(socket.get(), get(), size) == 0 && ::listen(socket.get(), 8) == 0 &&
             ::getsockname(socket.get(), get(), &size) == 0;
  }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&address); }
  Fd connect() {
    Fd client(::socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(client.get(), get(), size), 0);
    return client;
  }
  Fd accept() const { return Fd(::accept(socket.get(), nullptr, nullptr)); }

  Fd socket;
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  bool usable = false;
};

/// Ends a connection without telling the other end. @returns false if this process may not do that
bool vanish(Fd socket) {
  constexpr int kOn = 1;
  return ::setsockopt(socket.get(), IPPROTO_TCP, TCP_REPAIR, &kOn, sizeof kOn) == 0;
}

class SocketOwner : public ::testing::TestWithParam<int> {};

TEST_P(SocketOwner, IsTheUserOfTheOtherEnd) {
  Listener listener(GetParam());
  if (!listener.usable) GTEST_SKIP() << "this host has no such loopback address";
  const Fd client = listener.connect();
  const Fd server = listener.accept();
  EXPECT_EQ(owner_of_other_end(server.get()), ::geteuid());
  EXPECT_EQ(owner_of_other_end(client.get()), ::geteuid());
}

TEST_P(SocketOwner, IsAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Listener listener(GetParam());
  if (!listener.usable) GTEST_SKIP() << "this host has no such loopback address";
  // The child connects, and then waits for the parent's byte.
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setresuid(kNobody, kNobody, kNobody) != 0) ::_exit(1);
    const Fd client = listener.connect();
    char byte = 0;
    static_cast<void>(::read(client.get(), &byte, 1));
    ::_exit(0);
  }
  {
    const Fd server = listener.accept();
    EXPECT_EQ(owner_of_other_end(server.get()), kNobody);
  }
  ::waitpid(child, nullptr, 0);
}

TEST_P(SocketOwner, IsNotWhoeverListensAtThePort) {
  Listener listener(GetParam());
  if (!listener.usable) GTEST_SKIP() << "this host has no such loopback address";
  Fd client = listener.connect();
  const Fd server = listener.accept();
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ASSERT_EQ(::getsockname(client.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  if (!vanish(std::move(client))) GTEST_SKIP() << "needs CAP_NET_ADMIN";
  EXPECT_EQ(owner_of_other_end(server.get()), std::nullopt);
  // Now the kernel finds a socket for that address.
  const Fd other(::socket(GetParam(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(other.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(other.get(), 1), 0);
  ASSERT_EQ(::getpeername(server.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  EXPECT_EQ(owner_of_other_end(server.get()), std::nullopt);
}

TEST_P(SocketOwner, IsUnknownOnAnotherHost) {
  Listener listener(GetParam());
  if (!listener.usable) GTEST_SKIP() << "this host has no such loopback address";
  // A remote host's connections are those whose other end the kernel does not have.
  Fd client = listener.connect();
  const Fd server = listener.accept();
  if (!vanish(std::move(client))) GTEST_SKIP() << "needs CAP_NET_ADMIN";
  EXPECT_EQ(owner_of_other_end(server.get()), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Loopback, SocketOwner, ::testing::Values(AF_INET, AF_INET6),
                         [](const auto& info) { return info.param == AF_INET ? "v4" : "v6"; });

TEST(SocketOwner, OfOtherSocketsIsUnknown) {
  EXPECT_EQ(owner_of_other_end(-1), std::nullopt);
  std::array<int, 2> pair{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()), 0);
  const Fd a(pair[0]), b(pair[1]);
  EXPECT_EQ(owner_of_other_end(a.get()), std::nullopt);
  const Fd unconnected(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(owner_of_other_end(unconnected.get()), std::nullopt);
}

}  // namespace
}  // namespace clique::protocol
