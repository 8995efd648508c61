// Errors of system calls, and network namespaces.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "bench.hpp"

namespace bench {

/// Throws the error in errno.
[[noreturn]] inline void fail(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// Moves this thread, and threads and processes that it creates later, into the network namespace of `file`
/// (/proc/PID/ns/net). An empty name does nothing.
inline void enter_network(const std::string& file) {
  if (file.empty()) return;
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail(file);
  const int status = setns(fd, CLONE_NEWNET);
  close(fd);
  if (status != 0) fail(file);
}

/// Calls `make` in that namespace and returns its result. Afterwards the thread is in its old namespace
/// again.
template <typename Make>
auto in_network(const std::string& file, Make&& make) {
  const int ours = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (ours < 0) fail("/proc/thread-self/ns/net");
  enter_network(file);
  auto made = make();
  // Uses the descriptor, because the path now names the new namespace.
  const int status = setns(ours, CLONE_NEWNET);
  close(ours);
  if (status != 0) fail("setns");
  return made;
}

}  // namespace bench
