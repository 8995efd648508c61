#include "daemon/confinement/system_calls.hpp"

#include <sched.h>
#include <seccomp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>

namespace clique::daemon::confinement {

namespace {

/// Nobody in a session needs these. Names that an architecture or an older libseccomp lacks are left out.
constexpr const char* kForNobody[] = {
    // Other processes' memory and descriptors.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd", "pidfd_open",
    "pidfd_send_signal", "process_mrelease",
    // The kernel's modules, its successor, its inside.
    "init_module", "finit_module", "delete_module", "create_module", "kexec_load", "kexec_file_load", "bpf",
    "perf_event_open", "userfaultfd", "syslog", "lookup_dcookie", "iopl", "ioperm", "vm86", "vm86old",
    "uselib", "nfsservctl", "_sysctl",
    // A second way to do everything, which filters do not see.
    "io_uring_setup", "io_uring_enter", "io_uring_register",
    // Keys.
    "add_key", "request_key", "keyctl",
    // Namespaces, mounts, and files by other ways than their names.
    "unshare", "setns", "mount", "umount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount",
    "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "name_to_handle_at", "open_by_handle_at",
    "fanotify_init", "quotactl", "quotactl_fd", "swapon", "swapoff",
    // The host: its time, its name, its end.
    "settimeofday", "clock_settime", "clock_settime64", "stime", "adjtimex", "clock_adjtime",
    "clock_adjtime64", "sethostname", "setdomainname", "reboot", "acct", "vhangup",
    // Programs without a name, which no rule for files can know.
    "execveat", "memfd_secret"};

constexpr std::uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);

class Filter {
 public:
  Filter() : filter_(::seccomp_init(SCMP_ACT_ALLOW), &::seccomp_release) {
    if (!filter_) throw std::runtime_error("seccomp_init failed");
    // On kernels before 5.16, processes with filters would run slower otherwise; kernels of other sessions
    // run in other processes.
    set(SCMP_FLTATR_CTL_SSB, 1);
    set(SCMP_FLTATR_CTL_TSYNC, 1);
    set(SCMP_FLTATR_CTL_OPTIMIZE, 2);
  }

  template <typename... Conditions>
  void refuse(const char* name, Conditions... conditions) {
    refuse_with(kRefuse, name, conditions...);
  }
  template <typename... Conditions>
  void refuse_with(std::uint32_t action, const char* name, Conditions... conditions) {
    const int number = ::seccomp_syscall_resolve_name(name);
    // Negative numbers stand for calls that another architecture has.
    if (number < 0) return;
    check(::seccomp_rule_add(filter_.get(), action, number, sizeof...(conditions), conditions...), name);
  }
  void load() { check(::seccomp_load(filter_.get()), "seccomp_load"); }

 private:
  void set(scmp_filter_attr attribute, std::uint32_t value) {
    // Without an attribute, the filter does the same.
    static_cast<void>(::seccomp_attr_set(filter_.get(), attribute, value));
  }
  static void check(int error, const char* what) {
    if (error == 0) return;
    throw std::runtime_error(std::string("the kernel cannot filter system calls (") + what +
                             "): " + std::strerror(-error));
  }

  std::unique_ptr<void, decltype(&::seccomp_release)> filter_;
};

void refuse_namespaces(Filter& filter) {
  for (const int flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
                         CLONE_NEWPID, CLONE_NEWNET}) {
    const auto bit = static_cast<scmp_datum_t>(flag);
#ifdef __s390x__
    filter.refuse("clone", SCMP_A1(SCMP_CMP_MASKED_EQ, bit, bit));
#else
    filter.refuse("clone", SCMP_A0(SCMP_CMP_MASKED_EQ, bit, bit));
#endif
  }
  // Its flags are in memory, where filters cannot look. The C library uses clone() instead.
  filter.refuse_with(SCMP_ACT_ERRNO(ENOSYS), "clone3");
}

/// Signals reach this process alone.
void refuse_signals_to_others(Filter& filter) {
  const auto own = static_cast<scmp_datum_t>(::getpid());
  for (const char* name : {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"})
    filter.refuse(name, SCMP_A0_32(SCMP_CMP_NE, own));
  filter.refuse("tkill");
}

/// Sockets of other families than these.
void allow_sockets(Filter& filter, std::initializer_list<int> families) {
  constexpr int kMost = 64;
  for (int family = 0; family < kMost; ++family)
    if (std::find(families.begin(), families.end(), family) == families.end())
      filter.refuse("socket", SCMP_A0_32(SCMP_CMP_EQ, static_cast<scmp_datum_t>(family)));
  filter.refuse("socket", SCMP_A0_32(SCMP_CMP_GE, kMost));
}

}  // namespace

void restrict_system_calls(Role role, bool signals) {
  Filter filter;
  for (const char* name : kForNobody) filter.refuse(name);
  refuse_namespaces(filter);
  // A CUDA worker ends its compiler.
  if (signals && role != Role::CudaWorker) refuse_signals_to_others(filter);
  switch (role) {
    case Role::OpenClWorker:
    case Role::CudaWorker:
      allow_sockets(filter, {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK});
      break;
    case Role::Compiler:
      filter.refuse("socket");
      break;
    case Role::Probe:
      // Drivers talk to services of their vendors.
      allow_sockets(filter, {AF_UNIX});
      break;
  }
  filter.load();
}

}  // namespace clique::daemon::confinement
