#include "icd/remote/transfers/copy.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <thread>

#include "icd/remote/process.hpp"
#include "icd/remote/threads.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::icd {

namespace {

using namespace std::chrono_literals;

/// Blocks of this size or larger are worth waking other threads.
constexpr std::size_t kLarge = 256U << 10U;
/// The bytes that one thread copies at a time. On an H200's host, writes and reads of 256 MiB take a fifth
/// longer with pieces of twice this size, and reads take a fifth longer with half of it
/// (bench/results/h200.md).
constexpr std::size_t kPiece = 16U << 10U;
/// With fewer processors than this, the worker needs them all.
constexpr unsigned kProcessors = 8;
constexpr unsigned kMostHelpers = 7;
/// How long a helper spins for the next block, which often follows soon, before it sleeps.
constexpr auto kSpin = 100us;

/// Beside a network, as many helpers as keep up with the threads that receive: further ones would spin, and
/// take processor time from those threads.
unsigned helper_count(Through through) {
  const unsigned processors = std::thread::hardware_concurrency();
  if (processors < kProcessors) return 0;
  return through == Through::Network ? protocol::bulk_connections(false) - 1
                                     : std::min(kMostHelpers, processors / 2 - 1);
}

class Helpers {
 public:
  explicit Helpers(unsigned count) {
    const NoSignals quiet;
    for (unsigned i = 0; i < count; ++i) std::thread([this] { help(); }).detach();
  }

  bool foreign() const { return birthplace_.foreign(); }

  void copy(std::byte* to, const std::byte* from, std::size_t size) {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) {
      std::memcpy(to, from, size);
      return;
    }
    to_ = to;
    from_ = from;
    size_ = size;
    next_.store(0, std::memory_order_relaxed);
    epoch_.fetch_add(1);
    epoch_.notify_all();
    copy_pieces();
    epoch_.fetch_add(1);
    // A helper that is still inside has pieces that are not copied yet.
    while (inside_.load() != 0) __builtin_ia32_pause();
  }

 private:
  void copy_pieces() {
    for (std::size_t at = next_.fetch_add(kPiece); at < size_; at = next_.fetch_add(kPiece))
      std::memcpy(to_ + at, from_ + at, std::min(kPiece, size_ - at));
  }

  [[noreturn]] void help() {
    ::pthread_setname_np(::pthread_self(), "clique-copy");
    std::uint64_t seen = 0;
    for (;;) {
      wait(seen);
      seen = epoch_.load();
      if (seen % 2 == 0) continue;
      inside_.fetch_add(1);
      // Otherwise the block is finished, and the members may already describe the next one.
      if (epoch_.load() == seen) copy_pieces();
      inside_.fetch_sub(1);
    }
  }

  void wait(std::uint64_t seen) const {
    const auto tired = std::chrono::steady_clock::now() + kSpin;
    while (epoch_.load() == seen) {
      for (int i = 0; i < 32; ++i) __builtin_ia32_pause();
      if (std::chrono::steady_clock::now() > tired) epoch_.wait(seen);
    }
  }

  const Birthplace birthplace_;
  std::mutex mutex_;  // one block at a time
  std::byte* to_ = nullptr;
  const std::byte* from_ = nullptr;
  std::size_t size_ = 0;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::uint64_t> epoch_{0};  // odd while there is a block to copy
  std::atomic<unsigned> inside_{0};      // helpers that may be copying pieces
};

/// The helpers of this process for one kind of transfer; null if it has none. Created without a lock, because
/// a forked child might inherit it locked.
template <Through through>
Helpers* helpers() {
  static const unsigned count = helper_count(through);
  if (count == 0) return nullptr;
  static constinit std::atomic<Helpers*> current{nullptr};
  Helpers* known = current.load(std::memory_order_acquire);
  while (!known || known->foreign()) {
    static std::atomic_flag making = ATOMIC_FLAG_INIT;
    if (making.test_and_set()) return nullptr;  // blocks are copied without helpers until these exist
    auto* const fresh = new Helpers(count);
    current.store(fresh, std::memory_order_release);
    making.clear();
    known = fresh;
  }
  return known;
}

}  // namespace

void copy(std::byte* to, const std::byte* from, std::size_t size, Through through) {
  Helpers* all = nullptr;
  if (size >= kLarge && through != Through::Stream)
    all = through == Through::Network ? helpers<Through::Network>() : helpers<Through::Memory>();
  if (all != nullptr)
    all->copy(to, from, size);
  else
    std::memcpy(to, from, size);
}

void copy(std::byte* to, const std::byte* from, std::size_t size) {
  copy(to, from, size, Through::Memory);
}

}  // namespace clique::icd
