#include "daemon/server/probe.hpp"

#include <cstdlib>

#include "daemon/common/process.hpp"
#include "daemon/server/backends.hpp"

namespace clique::daemon {

void run_probe(int control_fd, NvidiaDriver nvidia) {
  die_with_parent();
  const ControlChannel control{Fd(control_fd)};
  control.send(list_platforms(nvidia));
  // Drivers' destructors have nothing to say any more.
  std::_Exit(EXIT_SUCCESS);
}

}  // namespace clique::daemon
