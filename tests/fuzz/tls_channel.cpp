// The bytes that reach the daemon's gate from somebody who has no key yet: TLS handshakes, and what is none.
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "protocol/security/tls.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace clique;
using namespace clique::protocol;
using namespace clique::fuzz;

constexpr std::size_t kLongestMessage = 4U << 10U;

std::array<Fd, 2> connection() {
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0,
          "the system has sockets");
  return {Fd(ends[0]), Fd(ends[1])};
}

/// What has arrived at a socket.
std::string received(const Fd& socket) {
  std::string bytes(64U << 10U, '\0');
  const ssize_t size = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return bytes;
}

}  // namespace

std::vector<std::string> clique::fuzz::seeds() {
  const TlsContext context(TlsContext::Role::Client, Identity::generate());
  auto [node, client] = connection();
  TlsChannel channel(context, std::move(client), kLongestMessage);
  channel.work();
  const std::string hello = received(node);
  return {'\xff' + hello, '\x10' + hello + hello, "\xffGET / HTTP/1.1\r\n\r\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TlsContext context(TlsContext::Role::Node, Identity::generate());
  Input input(data, size);
  const std::size_t piece = std::max<std::size_t>(input.number<std::uint8_t>(), 1) * 16;
  auto [client, node] = connection();
  TlsChannel channel(context, std::move(node), kLongestMessage);
  try {
    while (!input.empty()) {
      const auto bytes = input.take(piece);
      if (::send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) return 0;
      channel.work();
      received(client);
      require(!channel.open(), "nobody completes a handshake without the node's answers");
    }
    client = Fd();
    channel.work();
    require(channel.ended(), "the end of a connection is noticed");
  } catch (const SecurityError&) {
    return 0;
  }
  return 0;
}
