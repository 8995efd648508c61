#include "daemon/common/process.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

namespace clique::daemon {

namespace {
/// The most descriptors that a process asks for: some libraries close every descriptor that could be open
/// before they start a program.
constexpr rlim_t kMostDescriptors = 1U << 20U;
}  // namespace

void set_up_process() {
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) == 0 && descriptors.rlim_cur < kMostDescriptors) {
    descriptors.rlim_cur = std::min(descriptors.rlim_max, kMostDescriptors);
    ::setrlimit(RLIMIT_NOFILE, &descriptors);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGHUP, SIG_IGN);
}

void die_with_parent() {
  const pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the call.
  if (::getppid() != parent) std::_Exit(EXIT_SUCCESS);
}

}  // namespace clique::daemon
