// Connections at the daemon's port take turns.
#include "daemon/server/connections/gate.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>

namespace clique::daemon {
namespace {

class Gates : public testing::Test {
 protected:
  /// A connection from one of the loopback addresses.
  Fd connected_from(const char* address) const {
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in from{};
    from.sin_family = AF_INET;
    ::inet_pton(AF_INET, address, &from.sin_addr);
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from), 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(gate_.port());
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    return socket;
  }
  /// Says that the connection is for a worker.
  static void ask(const Fd& socket) {
    const auto request = protocol::StreamRequest().encode({});
    EXPECT_EQ(::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
  }
  static std::ptrdiff_t count_from(const Arrivals& arrivals, const std::string& address) {
    return std::count_if(arrivals.streams.begin(), arrivals.streams.end(),
                         [&](const StreamVisit& visit) { return visit.address.starts_with(address + ":"); });
  }

  Gate gate_{{"127.0.0.1", 0, true}, false, protocol::Identity::generate()};
};

TEST_F(Gates, GivenManyConnectionsOfOneAddressThenTheSameTurnServesTheOneOfAnother) {
  constexpr std::ptrdiff_t kMany = 60;
  std::vector<Fd> many;
  for (std::ptrdiff_t i = 0; i < kMany; ++i) many.push_back(connected_from("127.0.0.2"));
  const Fd one = connected_from("127.0.0.3");
  // It accepts them all before they ask for anything.
  for (std::ptrdiff_t i = 0; i < kMany; ++i) EXPECT_TRUE(gate_.turn().streams.empty());
  for (const Fd& socket : many) ask(socket);
  ask(one);
  Arrivals arrivals = gate_.turn();
  EXPECT_EQ(count_from(arrivals, "127.0.0.3"), 1);
  std::ptrdiff_t served = count_from(arrivals, "127.0.0.2");
  EXPECT_GT(served, 0);
  EXPECT_LT(served, kMany);
  for (std::ptrdiff_t turn = 0; turn < kMany; ++turn) served += count_from(gate_.turn(), "127.0.0.2");
  EXPECT_EQ(served, kMany);
}

}  // namespace
}  // namespace clique::daemon
