// Child processes of tests. Waiting for them has a time limit, since errors of a driver in a child are mostly
// hangs.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

namespace clique::test {

/// Waits for process `child` and returns how it ended: "exit 0", "signal 11", or "hangs" if it had to be
/// killed.
inline std::string end_of(pid_t child, std::chrono::seconds limit) {
  if (child < 0) return "no child";
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return "hangs";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (WIFEXITED(status)) return "exit " + std::to_string(WEXITSTATUS(status));
  return "signal " + std::to_string(WTERMSIG(status));
}

}  // namespace clique::test
