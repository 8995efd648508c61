#include "icd/remote/nodes/resolve.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <memory>
#include <thread>

#include "icd/remote/threads.hpp"
#include "protocol/socket_address.hpp"

namespace clique::icd {

namespace {

struct Lookup {
  int error = 0;
  std::vector<std::string> addresses;
};

Lookup look_up(const std::string& host, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  Lookup result;
  result.error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  if (result.error != 0) return result;
  for (const addrinfo* one = found; one; one = one->ai_next) {
    char text[NI_MAXHOST];
    if (::getnameinfo(one->ai_addr, one->ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
      continue;
    std::string address = one->ai_family == AF_INET6 ? "[" + std::string(text) + "]" : text;
    if (std::find(result.addresses.begin(), result.addresses.end(), address) == result.addresses.end())
      result.addresses.push_back(std::move(address));
  }
  ::freeaddrinfo(found);
  return result;
}

}  // namespace

std::vector<std::string> resolve(const std::string& host, std::chrono::steady_clock::time_point deadline) {
  if (protocol::vsock_cid(host)) return {host};
  if (auto numeric = look_up(host, AI_NUMERICHOST); numeric.error == 0) return numeric.addresses;
  // getaddrinfo cannot be cancelled while a name server does not answer; it can only be left to a thread of
  // its own.
  auto promise = std::make_shared<std::promise<Lookup>>();
  auto answer = promise->get_future();
  {
    const NoSignals quiet;
    std::thread([promise, host] { promise->set_value(look_up(host, 0)); }).detach();
  }
  if (answer.wait_until(deadline) != std::future_status::ready)
    throw Unreachable("its name was not resolved in time. Check the name server");
  Lookup found = answer.get();
  if (found.error != 0 || found.addresses.empty())
    throw Unreachable(std::string("its name cannot be resolved: ") + ::gai_strerror(found.error) +
                      ". Check its spelling, and that DNS or /etc/hosts has it");
  return found.addresses;
}

std::string diagnose(const std::string& address, std::uint16_t port,
                     std::chrono::steady_clock::time_point deadline) {
  const auto target = protocol::numeric_address(address, port);
  if (!target) return "no such address";
  const int fd = ::socket(target->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::strerror(errno);
  int error = ::connect(fd, target->get(), target->size()) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd ready{fd, POLLOUT, 0};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now())
            .count();
    error = ETIMEDOUT;
    socklen_t size = sizeof error;
    if (::poll(&ready, 1, static_cast<int>(std::max<long long>(left, 1))) > 0)
      ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  }
  ::close(fd);
  if (target->refused(error)) return "connection refused";
  std::string text = error == 0 ? "connection closed" : std::strerror(error);
  text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

}  // namespace clique::icd
