#include "daemon/backend/staging.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

namespace clique::daemon {

namespace {
constexpr std::chrono::milliseconds kPatience{100};

// Not value-initialised: the pages are only touched by what is put there.
std::byte* make_block(std::size_t size) {
  return new std::byte[size];
}
void destroy_block(std::byte* block) {
  delete[] block;
}
}  // namespace

Staging::Staging() : Staging({make_block, destroy_block, 0}) {}

std::shared_ptr<std::byte> Staging::take(std::size_t size) {
  const auto power =
      std::max<unsigned>(kSmallest, static_cast<unsigned>(std::bit_width(size - (size > 0 ? 1 : 0))));
  const std::size_t bytes = std::size_t{1} << power;
  std::byte* block = nullptr;
  {
    std::unique_lock lock(mutex_);
    if (source_.limit != 0 && out_ > 0)
      returned_.wait_for(lock, kPatience, [&] { return out_ + bytes <= source_.limit; });
    out_ += bytes;
    if (power <= kLargest && !free_[power].empty()) {
      block = free_[power].back();
      free_[power].pop_back();
      kept_ -= bytes;
    }
  }
  try {
    if (block == nullptr) block = source_.make(bytes);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    out_ -= bytes;
    throw;
  }
  return {block, [this, power](std::byte* given) { give_back(given, power); }};
}

void Staging::give_back(std::byte* block, unsigned power) {
  const std::size_t bytes = std::size_t{1} << power;
  {
    const std::lock_guard lock(mutex_);
    out_ -= bytes;
    if (power <= kLargest && kept_ + bytes <= kKept) {
      kept_ += bytes;
      free_[power].push_back(block);
      block = nullptr;
    }
  }
  if (source_.limit != 0) returned_.notify_one();
  if (block != nullptr) source_.destroy(block);
}

}  // namespace clique::daemon
