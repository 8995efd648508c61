#include "daemon/confinement/system_calls.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
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

/// No process of a session needs these. Names that the architecture or an older libseccomp lacks are ignored.
constexpr const char* kForNobody[] = {
    // Other processes' memory and descriptors.
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd", "pidfd_open",
    "pidfd_send_signal", "process_mrelease",
    // Kernel modules, kexec, and the kernel's internals.
    "init_module", "finit_module", "delete_module", "create_module", "kexec_load", "kexec_file_load", "bpf",
    "perf_event_open", "userfaultfd", "syslog", "lookup_dcookie", "iopl", "ioperm", "vm86", "vm86old",
    "uselib", "nfsservctl", "_sysctl",
    // io_uring bypasses filters.
    "io_uring_setup", "io_uring_enter", "io_uring_register",
    // Keys.
    "add_key", "request_key", "keyctl",
    // Namespaces, mounts, and access to files without their names.
    "unshare", "setns", "mount", "umount", "umount2", "pivot_root", "chroot", "open_tree", "move_mount",
    "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr", "name_to_handle_at", "open_by_handle_at",
    "fanotify_init", "quotactl", "quotactl_fd", "swapon", "swapoff",
    // The host's clock, name and shutdown.
    "settimeofday", "clock_settime", "clock_settime64", "stime", "adjtimex", "clock_adjtime",
    "clock_adjtime64", "sethostname", "setdomainname", "reboot", "acct", "vhangup",
    // Programs and memory without a name, which no rule for files covers.
    "execveat", "memfd_secret"};

/// What clique-compiler, LLVM in it, NVRTC and the SPIR-V translator need, with the C libraries of Debian 12
/// and 13, on all architectures.
constexpr const char* kForCompiler[] = {
    // Memory.
    "brk", "mmap", "mmap2", "munmap", "mremap", "mprotect", "madvise", "membarrier",
    // Files, of which other walls say what may be done with them.
    "open", "openat", "close", "close_range", "read", "readv", "pread64", "preadv", "write", "writev",
    "pwrite64", "lseek", "_llseek", "stat", "stat64", "fstat", "fstat64", "lstat", "lstat64", "newfstatat",
    "fstatat64", "statx", "statfs", "statfs64", "fstatfs", "fstatfs64", "access", "faccessat", "faccessat2",
    "readlink", "readlinkat", "getdents", "getdents64", "getcwd", "fcntl", "fcntl64", "fadvise64",
    "fadvise64_64", "arm_fadvise64_64", "ftruncate", "ftruncate64", "dup", "dup2", "dup3", "pipe", "pipe2",
    "umask",
    // The connection to the worker.
    "poll", "ppoll", "ppoll_time64", "select", "_newselect", "pselect6", "pselect6_time64", "send", "sendto",
    "sendmsg", "recv", "recvfrom", "recvmsg", "shutdown",
    // Threads, and the process itself.
    "clone", "fork", "vfork", "futex", "futex_time64", "set_robust_list", "get_robust_list", "rseq",
    "set_tid_address", "gettid", "getpid", "getppid", "sched_yield", "sched_getaffinity", "sched_setaffinity",
    "sched_getparam", "sched_getscheduler", "sched_get_priority_max", "sched_get_priority_min", "getcpu",
    "exit", "exit_group", "wait4", "waitpid", "waitid", "prctl", "arch_prctl", "set_thread_area", "set_tls",
    "cacheflush", "riscv_flush_icache", "riscv_hwprobe", "getrlimit", "ugetrlimit", "setrlimit", "prlimit64",
    "getrusage", "getpriority", "sysinfo", "uname", "getuid", "getuid32", "geteuid", "geteuid32", "getgid",
    "getgid32", "getegid", "getegid32", "getpgrp", "getrandom", "seccomp",
    // Signals. Others see to it that they reach no other process.
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigreturn", "sigaltstack", "rt_sigsuspend",
    "rt_sigtimedwait", "rt_sigpending", "pause", "restart_syscall", "kill", "tkill", "tgkill",
    // Time.
    "clock_gettime", "clock_gettime64", "clock_getres", "clock_getres_time64", "clock_nanosleep",
    "clock_nanosleep_time64", "nanosleep", "gettimeofday", "time", "times"};

constexpr std::uint32_t kRefuse = SCMP_ACT_ERRNO(EPERM);
/// For calls that nobody has thought of: C libraries then do without, as on an older kernel. On EPERM they
/// would fail.
constexpr std::uint32_t kUnknown = SCMP_ACT_ERRNO(ENOSYS);

class Filter {
 public:
  /// @param others what happens to calls that the filter does not name
  explicit Filter(std::uint32_t others = SCMP_ACT_ALLOW)
      : filter_(::seccomp_init(others), &::seccomp_release) {
    if (!filter_) throw std::runtime_error("seccomp_init failed");
    // Before Linux 5.16, filters turn on a mitigation against speculative store bypass, which slows processes
    // down. It is not needed, because kernels of other sessions run in other processes.
    set(SCMP_FLTATR_CTL_SSB, 1);
    set(SCMP_FLTATR_CTL_TSYNC, 1);
    set(SCMP_FLTATR_CTL_OPTIMIZE, 2);
  }

  template <typename... Conditions>
  void refuse(const char* name, Conditions... conditions) {
    add(kRefuse, name, conditions...);
  }
  template <typename... Conditions>
  void add(std::uint32_t action, const char* name, Conditions... conditions) {
    const int number = ::seccomp_syscall_resolve_name(name);
    // Negative numbers are calls that only other architectures have.
    if (number < 0) return;
    check(::seccomp_rule_add(filter_.get(), action, number, sizeof...(conditions), conditions...), name);
  }
  void load() { check(::seccomp_load(filter_.get()), "seccomp_load"); }

 private:
  void set(scmp_filter_attr attribute, std::uint32_t value) {
    // Older versions lack some attributes; the filter works without them.
    static_cast<void>(::seccomp_attr_set(filter_.get(), attribute, value));
  }
  static void check(int error, const char* what) {
    if (error == 0) return;
    throw std::runtime_error(std::string("the kernel cannot filter system calls (") + what +
                             "): " + std::strerror(-error));
  }

  std::unique_ptr<void, decltype(&::seccomp_release)> filter_;
};

// Conditions on an argument of a call. libseccomp's macros for these are for C only.

constexpr scmp_arg_cmp has_flag(unsigned int argument, scmp_datum_t flag) {
  return {argument, SCMP_CMP_MASKED_EQ, flag, flag};
}
/// Compares the lower 32 bits, which are all of an `int`; the upper ones are undefined.
constexpr scmp_arg_cmp compares(unsigned int argument, scmp_compare comparison, int value) {
  return {argument, comparison, static_cast<std::uint32_t>(value), 0};
}

void refuse_namespaces(Filter& filter) {
  for (const int flag : {CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER,
                         CLONE_NEWPID, CLONE_NEWNET}) {
    const auto bit = static_cast<scmp_datum_t>(flag);
#ifdef __s390x__
    filter.refuse("clone", has_flag(1, bit));
#else
    filter.refuse("clone", has_flag(0, bit));
#endif
  }
  // Filters cannot see its flags, which are in memory. On ENOSYS the C library uses clone() instead.
  filter.add(SCMP_ACT_ERRNO(ENOSYS), "clone3");
}

/// Allows signals to this process only.
void refuse_signals_to_others(Filter& filter) {
  for (const char* name : {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"})
    filter.refuse(name, compares(0, SCMP_CMP_NE, ::getpid()));
  filter.refuse("tkill");
}

/// Refuses sockets of all other families.
void allow_sockets(Filter& filter, std::initializer_list<int> families) {
  constexpr int kMost = 64;
  for (int family = 0; family < kMost; ++family)
    if (std::find(families.begin(), families.end(), family) == families.end())
      filter.refuse("socket", compares(0, SCMP_CMP_EQ, family));
  filter.refuse("socket", compares(0, SCMP_CMP_GE, kMost));
}

/// Allows the calls of the compiler alone.
void allow_for_compiler() {
  Filter filter(kUnknown);
  for (const char* name : kForCompiler) filter.add(SCMP_ACT_ALLOW, name);
#if defined(CLIQUE_SANITIZE_ADDRESS) || defined(CLIQUE_SANITIZE_THREAD)
  for (const char* name : {"personality", "mincore", "msync"}) filter.add(SCMP_ACT_ALLOW, name);
#endif
  // The C library asks whether a file is a terminal.
  filter.add(SCMP_ACT_ALLOW, "ioctl", compares(1, SCMP_CMP_EQ, TCGETS));
  filter.add(SCMP_ACT_ALLOW, "execve");
  filter.load();
}

}  // namespace

void restrict_sockets(Role role) {
  Filter filter;
  if (role == Role::Compiler)
    filter.refuse("socket");
  else
    // Drivers talk to services of their vendors, such as nvidia-persistenced.
    allow_sockets(filter, {AF_UNIX});
  constexpr scmp_datum_t kFlag = MSG_FASTOPEN;
  filter.refuse("sendto", has_flag(3, kFlag));
  filter.refuse("sendmsg", has_flag(2, kFlag));
  filter.refuse("sendmmsg", has_flag(3, kFlag));
  for (const int option : {TCP_FASTOPEN_CONNECT, TCP_FASTOPEN_NO_COOKIE})
    filter.refuse("setsockopt", compares(1, SCMP_CMP_EQ, IPPROTO_TCP), compares(2, SCMP_CMP_EQ, option));
  filter.load();
}

void restrict_system_calls(const FileNeeds& needs, bool signals) {
  // Of two filters that refuse a call, the one that was loaded last determines the error.
  if (needs.role == Role::Compiler) allow_for_compiler();
  Filter filter;
  for (const char* name : kForNobody) filter.refuse(name);
  refuse_namespaces(filter);
  // A CUDA worker may have to kill its compiler.
  if (signals && needs.role != Role::CudaWorker) refuse_signals_to_others(filter);
  if (needs.role == Role::Compiler) {
    // Such a file could be executed where execve() is allowed. Those for the translator are made before.
    filter.refuse("memfd_create");
    if (needs.programs.empty()) filter.refuse("execve");
    filter.refuse("socket");
  } else {
    // Without the wall of the network, what RDMA and ZeroMQ need.
    allow_sockets(filter, {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK});
  }
  filter.load();
}

}  // namespace clique::daemon::confinement
