#include "icd/remote/process.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>

namespace clique::icd {

namespace detail {
std::atomic<std::uint32_t> process_generation{0};
}

namespace {

constexpr int kNone = -1;

/// Lock-free, because the handler in the child must not wait for a lock that a thread of the parent held.
struct Descriptors {
  Descriptors() {
    for (auto& fd : fds) fd.store(kNone);
  }
  std::array<std::atomic<int>, 16> fds;
};

Descriptors& descriptors() {
  static auto* const all = new Descriptors;
  return *all;
}

void enter_child() {
  detail::process_generation.fetch_add(1);
  for (auto& slot : descriptors().fds) {
    const int fd = slot.exchange(kNone);
    if (fd != kNone) ::close(fd);
  }
}

[[maybe_unused]] const bool kHandlerInstalled = [] {
  descriptors();
  return pthread_atfork(nullptr, nullptr, enter_child) == 0;
}();

}  // namespace

bool close_in_children(int fd) {
  for (auto& slot : descriptors().fds) {
    int expected = kNone;
    if (slot.compare_exchange_strong(expected, fd)) return true;
  }
  return false;
}

void forget_in_children(int fd) {
  for (auto& slot : descriptors().fds) {
    int expected = fd;
    if (slot.compare_exchange_strong(expected, kNone)) return;
  }
}

}  // namespace clique::icd
