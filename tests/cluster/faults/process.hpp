// Processes that tests start, look at and kill.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace clique::test {

/// Asks every few milliseconds. @returns whether the condition came true in time.
bool eventually(std::chrono::milliseconds limit, const std::function<bool()>& condition);

/// A child process, whose output is kept. It is killed with its owner at the latest.
class Child {
 public:
  /// Starts `command`, with `environment` (NAME=VALUE) besides or instead of what this process has.
  explicit Child(std::vector<std::string> command,
                 const std::map<std::string, std::string>& environment = {});
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  /// Ends it: politely, then by force.
  ~Child();

  pid_t pid() const { return pid_; }
  /// What it and its children wrote so far.
  std::string output() const;
  /// Ends it by SIGKILL, and waits for that.
  void kill();
  /// As shells say it (128 + signal), once it has ended by itself; -1 where it does not in time.
  int wait(std::chrono::milliseconds limit);

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

/// Runs one of this program's disabled tests as a process of its own.
Child start_test(const std::string& name, const std::map<std::string, std::string>& environment);

/// Whether the process exists and is more than a zombie.
bool alive(pid_t pid);
/// cliqued processes whose environment has NAME=VALUE: daemons and workers of whoever started them with it.
std::vector<pid_t> cliqued_processes_with(const std::string& name, const std::string& value);
/// The TCP ports that a process listens on.
std::vector<int> listening_ports(pid_t pid);

}  // namespace clique::test
