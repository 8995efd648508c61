#include "daemon/confinement/wall.hpp"

#include <stdexcept>

#include "daemon/common/environment.hpp"

namespace clique::daemon::confinement {

std::string_view name_of(Wall wall) {
  switch (wall) {
    case Wall::Privileges:
      return "privileges";
    case Wall::Limits:
      return "limits";
    case Wall::Processes:
      return "processes";
    case Wall::Files:
      return "files";
    case Wall::FileRights:
      return "file-rights";
    case Wall::Network:
      return "network";
    case Wall::SystemCalls:
      return "system-calls";
  }
  return "";
}

std::string_view description_of(Wall wall) {
  switch (wall) {
    case Wall::Privileges:
      return "no capabilities (no_new_privs)";
    case Wall::Limits:
      return "no core dumps, killed before the daemon when memory is short (rlimits, oom_score_adj)";
    case Wall::Processes:
      return "sees no other processes (user, PID and IPC namespaces)";
    case Wall::Files:
      return "sees only the files that it needs (mount namespace)";
    case Wall::FileRights:
      return "uses these files only as needed (Landlock)";
    case Wall::Network:
      return "no network but the connections that it is handed (seccomp, and Landlock or socket filters)";
    case Wall::SystemCalls:
      return "no system calls that it does not need (seccomp)";
  }
  return "";
}

std::string_view remedy_of(Wall wall) {
  switch (wall) {
    case Wall::Privileges:
    case Wall::Limits:
      return "if this is a container, use a seccomp profile that allows the call; otherwise look what else "
             "restricts cliqued";
    case Wall::Processes:
    case Wall::Files:
      return "set the kernel's parameters user.max_user_namespaces above 0 and, where it exists, "
             "kernel.apparmor_restrict_unprivileged_userns to 0; in a container, use a runtime profile that "
             "allows namespaces, and unmask /proc; in a chroot, enter the folder with pivot_root instead";
    case Wall::FileRights:
      return "use Linux 5.19 or later with Landlock enabled; in a container, use a seccomp profile that "
             "allows Landlock's calls";
    case Wall::Network:
      return "use Linux 6.7 or later with Landlock enabled; in a container, use a seccomp profile that "
             "allows "
             "Landlock's calls and the call seccomp";
    case Wall::SystemCalls:
      return "use a kernel built with CONFIG_SECCOMP_FILTER; in a container, use a seccomp profile that "
             "allows the call seccomp";
  }
  return "";
}

std::string_view name_of(Mode mode) {
  switch (mode) {
    case Mode::Off:
      return "off";
    case Mode::On:
      return "on";
    case Mode::Required:
      return "required";
  }
  return "";
}

Mode parse_mode(std::string_view text) {
  for (const Mode mode : {Mode::Off, Mode::On, Mode::Required})
    if (name_of(mode) == text) return mode;
  throw std::invalid_argument("'" + std::string(text) + "' is not valid; write on, required or off");
}

Mode mode_of_environment() {
  const std::string text = environment("CLIQUE_CONFINEMENT").value_or("");
  if (text.empty()) return Mode::On;
  try {
    return parse_mode(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("CLIQUE_CONFINEMENT: ") + error.what());
  }
}

}  // namespace clique::daemon::confinement
