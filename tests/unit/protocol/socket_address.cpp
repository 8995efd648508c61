#include "protocol/socket_address.hpp"

#include <gtest/gtest.h>
#include <netinet/in.h>
// After what it needs.
#include <linux/vm_sockets.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace clique::protocol {

TEST(SocketAddress, GivenVsockThenItsNumberIsRead) {
  EXPECT_EQ(vsock_cid("vsock:2"), 2U);
  EXPECT_EQ(vsock_cid("vsock:4294967294"), 4294967294U);
}

TEST(SocketAddress, GivenSomethingElseThenThereIsNoNumber) {
  for (const char* host : {"vsock", "vsock:", "vsock:x", "vsock:-1", "vsock:2:", "vsock: 2", "vsock:0x2",
                           "VSOCK:2", "vsock:4294967295", "vsock:4294967296", "host", "10.0.0.1", "::1", ""})
    EXPECT_FALSE(vsock_cid(host)) << host;
}

TEST(SocketAddress, GivenNumericHostsThenTheirFamilyIsKnown) {
  EXPECT_EQ(numeric_address("127.0.0.1", 7890)->family(), AF_INET);
  EXPECT_EQ(numeric_address("[::1]", 7890)->family(), AF_INET6);
  EXPECT_EQ(numeric_address("::1", 7890)->family(), AF_INET6);
  const auto vsock = numeric_address("vsock:3", 7890);
  ASSERT_TRUE(vsock);
  ASSERT_EQ(vsock->family(), AF_VSOCK);
  const auto* native = reinterpret_cast<const sockaddr_vm*>(vsock->get());
  EXPECT_EQ(native->svm_cid, 3U);
  EXPECT_EQ(native->svm_port, 7890U);
}

TEST(SocketAddress, GivenNameThenItIsNotNumeric) {
  EXPECT_FALSE(numeric_address("localhost", 7890));
  EXPECT_FALSE(numeric_address("vsock:many", 7890));
}

TEST(SocketAddress, GivenHostsThenEndpointsHaveTheirScheme) {
  EXPECT_EQ(endpoint_of("host", 7890), "tcp://host:7890");
  EXPECT_EQ(endpoint_of("::1", 7890), "tcp://[::1]:7890");
  EXPECT_EQ(endpoint_of("[::1]", 7890), "tcp://[::1]:7890");
  EXPECT_EQ(endpoint_of("vsock:2", 7890), "vsock://2:7890");
}

TEST(SocketAddress, GivenEndpointsThenTheirAddressesAreFound) {
  constexpr bool kNumeric = true;
  EXPECT_EQ(addresses_of("vsock://2:7890", kNumeric).at(0).family(), AF_VSOCK);
  EXPECT_EQ(addresses_of("tcp://127.0.0.1:7890", kNumeric).at(0).family(), AF_INET);
  EXPECT_EQ(addresses_of("tcp://[::1]:7890", kNumeric).at(0).family(), AF_INET6);
}

TEST(SocketAddress, GivenMalformedEndpointsThenTheyAreRefused) {
  constexpr bool kNumeric = true;
  for (const char* endpoint : {"", "vsock://2", "vsock://:7890", "vsock://2:", "vsock://2:70000",
                               "vsock://a:7890", "tcp://", "tcp", "127.0.0.1:7890", "tcp://name:7890"})
    EXPECT_THROW(addresses_of(endpoint, kNumeric), std::runtime_error) << endpoint;
}

TEST(SocketAddress, GivenResetThenOnlyVsockCallsThatRefusal) {
  EXPECT_TRUE(vsock_address(2, 7890).refused(ECONNRESET));
  EXPECT_FALSE(numeric_address("127.0.0.1", 7890)->refused(ECONNRESET));
  EXPECT_TRUE(numeric_address("127.0.0.1", 7890)->refused(ECONNREFUSED));
}

TEST(SocketAddress, GivenOtherEndsThenTheirTextsSayWhoTheyAre) {
  const auto text = [](const SocketAddress& address) {
    sockaddr_storage storage{};
    std::memcpy(&storage, address.get(), address.size());
    return text_of(storage, address.size());
  };
  EXPECT_EQ(text(vsock_address(3, 1024)).whole, "vsock:3:1024");
  EXPECT_EQ(text(vsock_address(3, 1024)).host, "vsock:3");
  EXPECT_EQ(text(*numeric_address("::1", 5)).whole, "[::1]:5");
  EXPECT_EQ(text(*numeric_address("127.0.0.1", 5)).whole, "127.0.0.1:5");
}

}  // namespace clique::protocol
