#include "daemon/confinement/resources.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

#include "daemon/confinement/throw_failure.hpp"

namespace clique::daemon::confinement {

namespace {

/// Added to oom_score_adj (at most 1000), so that the OOM killer prefers the process to the daemon.
constexpr int kRatherThanDaemon = 300;
/// Threads and processes of a session's process: drivers start one thread or two per processor.
constexpr rlim_t kThreads = 8192;

}  // namespace

void set_limits(bool own_users) {
  const rlimit no_core{0, 0};
  if (::setrlimit(RLIMIT_CORE, &no_core) != 0) throw_failure("setrlimit of core dumps");
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &files) != 0) throw_failure("setrlimit of open files");
  if (own_users) {
    rlimit threads{};
    ::getrlimit(RLIMIT_NPROC, &threads);
    threads.rlim_max = std::min(threads.rlim_max, kThreads);
    threads.rlim_cur = threads.rlim_max;
    if (::setrlimit(RLIMIT_NPROC, &threads) != 0) throw_failure("setrlimit of threads");
  }
  int score = 0;
  std::ifstream("/proc/self/oom_score_adj") >> score;
  std::ofstream file("/proc/self/oom_score_adj");
  file << std::min(score + kRatherThanDaemon, 1000) << std::flush;
  if (!file) throw_failure("writing /proc/self/oom_score_adj");
}

void drop_privileges() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) throw_failure("PR_SET_NO_NEW_PRIVS");
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // The kernel refuses this to processes without capabilities, which need not drop any.
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability)
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const std::array<__user_cap_data_struct, 2> none{};
  if (::syscall(SYS_capset, &header, none.data()) != 0) throw_failure("capset");
}

}  // namespace clique::daemon::confinement
