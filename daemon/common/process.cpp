#include "daemon/common/process.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace clique::daemon {

void die_with_parent() {
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the call.
  if (::getppid() != parent) std::_Exit(EXIT_SUCCESS);
}

}  // namespace clique::daemon
