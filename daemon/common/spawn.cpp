#include "daemon/common/spawn.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

namespace clique::daemon {

namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

/// Everything that the child of clone() uses; prepared before, for the child must not allocate.
struct Start {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int connection;
  bool leads_group;
  bool null_io;
  int errors;
  std::array<char, 32> user_map;
  std::array<char, 32> group_map;
  int error = 0;  ///< set by the child, which shares its parent's memory until execve()
};

// Sanitizers do not know the child's stack.
#define CLIQUE_UNSANITIZED __attribute__((no_sanitize("address", "thread", "undefined")))

CLIQUE_UNSANITIZED bool write_file(const char* path, const char* text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  std::size_t length = 0;
  while (text[length] != 0) ++length;
  const bool written = ::write(file, text, length) == static_cast<ssize_t>(length);
  ::close(file);
  return written;
}

/// Lets the program keep what it needs to arrange its mounts, and to drop capabilities. Without this,
/// execve() would drop all of them, unless the user is root.
CLIQUE_UNSANITIZED bool keep_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  if (::syscall(SYS_capget, &header, sets.data()) != 0) return false;
  constexpr __u32 kKept = 1U << CAP_SYS_ADMIN | 1U << CAP_SETPCAP;
  sets[0].inheritable = kKept;
  sets[1].inheritable = 0;
  return ::syscall(SYS_capset, &header, sets.data()) == 0 &&
         ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_ADMIN, 0, 0) == 0 &&
         ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SETPCAP, 0, 0) == 0;
}

/// Turns the new process into the program. Returns only if that fails. Only system calls.
CLIQUE_UNSANITIZED void become_program(const Start& start) {
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
  if (start.leads_group) ::setpgid(0, 0);
  // The kernel demands that a user who is not root gives up setgroups() before the map of groups is written.
  if (!write_file("/proc/self/setgroups", "deny") ||
      !write_file("/proc/self/uid_map", start.user_map.data()) ||
      !write_file("/proc/self/gid_map", start.group_map.data()) || !keep_capabilities())
    return;
  if (start.null_io) {
    const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    const int out = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (::dup2(in, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0) return;
  }
  if (start.errors >= 0 && ::dup2(start.errors, STDERR_FILENO) < 0) return;
  if (::dup2(start.connection, kChildFd) < 0 || ::syscall(SYS_close_range, kChildFd + 1, ~0U, 0) != 0) return;
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(start.program, start.arguments, start.environment);
}

CLIQUE_UNSANITIZED int run_child(void* argument) {
  Start& start = *static_cast<Start*>(argument);
  become_program(start);
  start.error = errno == 0 ? EINVAL : errno;
  ::_exit(127);
}

/// Starts the process with clone(), as posix_spawn() does, but in namespaces of its own.
pid_t clone_into_namespaces(NewProcess& process, const char* what) {
  auto arguments = pointers(process.arguments);
  auto environment = pointers(process.environment);
  Start start{process.program.c_str(),
              arguments.data(),
              environment.data(),
              process.connection,
              process.leads_group,
              process.null_io,
              process.errors,
              {},
              {}};
  std::snprintf(start.user_map.data(), start.user_map.size(), "%u %u 1", ::geteuid(), ::geteuid());
  std::snprintf(start.group_map.data(), start.group_map.size(), "%u %u 1", ::getegid(), ::getegid());
  constexpr std::size_t kStack = 64U << 10U;
  void* const stack =
      ::mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) throw std::system_error(errno, std::generic_category(), what);
  // No handler of this process may run in the child, which shares its memory.
  sigset_t all, before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = ::clone(
      run_child, static_cast<char*>(stack) + kStack,
      CLONE_VM | CLONE_VFORK | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | SIGCHLD, &start);
  int error = pid < 0 ? errno : start.error;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::munmap(stack, kStack);
  if (pid > 0 && error != 0) ::waitpid(pid, nullptr, 0);
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
  return pid;
}

}  // namespace

pid_t spawn(NewProcess process, const char* what) {
  if (process.own_namespaces) return clone_into_namespaces(process, what);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (process.null_io) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  if (process.errors >= 0) posix_spawn_file_actions_adddup2(&actions, process.errors, STDERR_FILENO);
  if (process.output >= 0) posix_spawn_file_actions_adddup2(&actions, process.output, STDOUT_FILENO);
  const bool connected = process.connection >= 0;
  if (connected) posix_spawn_file_actions_adddup2(&actions, process.connection, kChildFd);
  posix_spawn_file_actions_addclosefrom_np(&actions, connected ? kChildFd + 1 : kChildFd);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  if (process.leads_group) flags |= POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, process.program.c_str(), &actions, &attributes,
                                  pointers(process.arguments).data(), pointers(process.environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
  return pid;
}

}  // namespace clique::daemon
