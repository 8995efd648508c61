// Processes that tests start, examine and kill.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace clique::test {

/// Checks the condition every few milliseconds. @returns whether it became true in time
bool eventually(std::chrono::milliseconds limit, const std::function<bool()>& condition);

/// A child process whose output is kept. It is killed if this process dies.
class Child {
 public:
  /// Starts `command` with the environment of this process, in which `environment` adds or replaces
  /// variables.
  explicit Child(std::vector<std::string> command,
                 const std::map<std::string, std::string>& environment = {});
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Ends the process: by SIGTERM, then by SIGKILL.
  ~Child();

  pid_t pid() const { return pid_; }
  /// What the process and its children have written so far.
  std::string output() const;
  /// Ends the process by SIGKILL and waits for its end.
  void kill();
  /// Waits for the process to end by itself. @returns its status as in shells (128 + signal), or -1 if it
  /// does not end in time
  int wait(std::chrono::milliseconds limit);

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

/// Runs one of this program's disabled tests as a process of its own.
Child start_test(const std::string& name, const std::map<std::string, std::string>& environment);

/// Whether the process exists and is more than a zombie.
bool alive(pid_t pid);
/// The cliqued processes (daemons and workers) whose environment contains NAME=VALUE.
std::vector<pid_t> cliqued_processes_with(const std::string& name, const std::string& value);
/// The TCP ports that a process listens on.
std::vector<int> listening_ports(pid_t pid);

}  // namespace clique::test
