#include "daemon/server/systemd.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>

#include "daemon/common/environment.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon {

void notify_systemd(const std::string& state) {
  const std::string path = environment("NOTIFY_SOCKET").value_or("");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return;
  path.copy(address.sun_path, path.size());
  // The name of an abstract socket is written with '@' and starts with a zero byte.
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  static_cast<void>(::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), length));
}

}  // namespace clique::daemon
