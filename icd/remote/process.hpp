// What has to hold of the process that this library is loaded into: forks and exits.
//
// After fork() the child has copies of the parent's sockets, threads' locks and ZeroMQ context, none of which
// it may touch. Everything here that owns such things compares its birth's process_generation() with the
// current one, and behaves as lost, without locks or system calls, where they differ; the child then opens
// its own. At exit nothing is joined or destroyed: what is process-wide is leaked on purpose, and the nodes
// see the connections close.
#pragma once

#include <atomic>
#include <cstdint>

namespace clique::icd {

namespace detail {
extern std::atomic<std::uint32_t> process_generation;
}

/// Counts fork()s between the process that loaded the library and this one. What was made under another
/// generation belongs to another process and must be leaked. Any thread; costs one load.
inline std::uint32_t process_generation() {
  return detail::process_generation.load(std::memory_order_relaxed);
}

/// Remembers the process it was made in.
class Birthplace {
 public:
  /// True in a forked child of the process that made this.
  bool foreign() const { return generation_ != process_generation(); }

 private:
  std::uint32_t generation_ = process_generation();
};

/// Has `fd` closed in every child that fork() makes from now on, so that the other end sees this process
/// alone. At most a few at a time; returns false (and does nothing) where there are too many.
bool close_in_children(int fd);
/// Takes back close_in_children(fd); to be called before closing it.
void forget_in_children(int fd);

}  // namespace clique::icd
