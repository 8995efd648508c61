// How the library behaves when its process forks or exits.
//
// After fork() the child has copies of the parent's sockets, of its ZeroMQ context and of locks that the
// parent's threads may hold. It must touch none of them. Every class here that owns such a thing compares the
// process_generation() of its construction with the current one. If they differ, the object behaves as lost,
// without taking locks or making system calls, and the child opens connections of its own. At exit nothing
// is joined or destroyed: process-wide objects are leaked on purpose, and the nodes see the connections
// close.
#pragma once

#include <atomic>
#include <cstdint>

namespace clique::icd {

namespace detail {
extern std::atomic<std::uint32_t> process_generation;
}

/// The number of fork()s between the process that loaded the library and this one. Objects that were made
/// under another generation belong to another process and must be leaked. Thread-safe; costs one load.
inline std::uint32_t process_generation() {
  return detail::process_generation.load(std::memory_order_relaxed);
}

/// Remembers the process in which it was constructed.
class Birthplace {
 public:
  /// True in a forked child of the process that constructed this.
  bool foreign() const { return generation_ != process_generation(); }

 private:
  std::uint32_t generation_ = process_generation();
};

/// Closes `fd` in every child that fork() makes from now on, so that the other end of the connection depends
/// on this process alone. Holds 16 descriptors at a time.
/// @returns false, having done nothing, if there is no room for another descriptor.
bool close_in_children(int fd);
/// Reverts close_in_children(fd). Must be called before `fd` is closed.
void forget_in_children(int fd);

}  // namespace clique::icd
