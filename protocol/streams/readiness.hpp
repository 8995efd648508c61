#pragma once

#include <cstdint>

#include "protocol/fd.hpp"

namespace clique::protocol {

/// A descriptor that is readable while any of others has an event: an epoll instance (epoll(7)). Thread-safe.
class Readiness {
 public:
  /// Throws std::system_error.
  Readiness();

  int fd() const { return epoll_.get(); }
  /// From now on these events (EPOLLIN, …) of `fd` count, instead of others. @returns false if the system has
  /// no memory for that
  bool watch(int fd, std::uint32_t events);
  /// From now on no event of `fd` counts. To be called before it is closed, unless nothing else refers to its
  /// file.
  void forget(int fd);

 private:
  Fd epoll_;
};

}  // namespace clique::protocol
