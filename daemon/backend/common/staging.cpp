#include "daemon/backend/common/staging.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <new>

namespace clique::daemon {

namespace {
constexpr std::chrono::milliseconds kPatience{100};
/// Between two calls of Source::relieve.
constexpr std::chrono::microseconds kPause{50};

/// Large blocks of malloc() begin 16 bytes after a page does. To such memory the kernel copies a file, or
/// what a socket receives, up to five times as slowly on some processors (AMD EPYC).
constexpr std::align_val_t kPage{4096};

// Not value-initialised, since that would touch all pages.
std::byte* make_block(std::size_t size) {
  return static_cast<std::byte*>(::operator new(size, kPage));
}
void destroy_block(std::byte* block) {
  ::operator delete(block, kPage);
}
}  // namespace

Staging::Staging() : Staging({make_block, destroy_block}) {}

std::shared_ptr<std::byte> Staging::take(std::size_t size) {
  return make(size, true);
}

std::shared_ptr<std::byte> Staging::take_uncounted(std::size_t size) {
  return make(size, false);
}

std::shared_ptr<std::byte> Staging::make(std::size_t size, bool counted) {
  const auto power =
      std::max<unsigned>(kSmallest, static_cast<unsigned>(std::bit_width(size - (size > 0 ? 1 : 0))));
  const std::size_t bytes = std::size_t{1} << power;
  std::byte* block = nullptr;
  {
    std::unique_lock lock(mutex_);
    if (counted) {
      if (source_.limit != 0) wait_for_room(lock, bytes);
      out_ += bytes;
    }
    if (power <= kLargest) {
      asked_[power] = ++askings_;
      if (!free_[power].empty()) {
        block = free_[power].back();
        free_[power].pop_back();
        kept_ -= bytes;
      }
    }
  }
  try {
    if (block == nullptr) block = source_.make(bytes);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (counted) out_ -= bytes;
    throw;
  }
  return {block, [this, power, counted](std::byte* given) { give_back(given, power, counted); }};
}

void Staging::wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t bytes) {
  const auto fits = [&] { return out_ == 0 || out_ + bytes <= source_.limit; };
  if (!source_.relieve) {
    returned_.wait_for(lock, kPatience, fits);
    return;
  }
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!fits() && std::chrono::steady_clock::now() < deadline) {
    lock.unlock();
    source_.relieve();
    lock.lock();
    returned_.wait_for(lock, kPause, fits);
  }
}

bool Staging::make_way(unsigned power, std::vector<std::byte*>& surplus) {
  const std::size_t bytes = std::size_t{1} << power;
  while (kept_ + bytes > kKept) {
    unsigned oldest = power;
    for (unsigned other = kSmallest; other <= kLargest; ++other)
      if (!free_[other].empty() && asked_[other] < asked_[oldest]) oldest = other;
    if (oldest == power) return false;
    surplus.push_back(free_[oldest].back());
    free_[oldest].pop_back();
    kept_ -= std::size_t{1} << oldest;
  }
  return true;
}

void Staging::give_back(std::byte* block, unsigned power, bool counted) {
  const std::size_t bytes = std::size_t{1} << power;
  std::vector<std::byte*> surplus;
  {
    const std::lock_guard lock(mutex_);
    if (counted) out_ -= bytes;
    if (power <= kLargest && make_way(power, surplus)) {
      kept_ += bytes;
      free_[power].push_back(block);
    } else {
      surplus.push_back(block);
    }
  }
  if (source_.limit != 0) returned_.notify_one();
  for (std::byte* const each : surplus) source_.destroy(each);
}

}  // namespace clique::daemon
