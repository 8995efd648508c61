#include "daemon/backend/opencl/staging.hpp"

#include <algorithm>
#include <bit>

namespace clique::daemon::opencl {

std::shared_ptr<std::byte> Staging::take(std::size_t size) {
  const auto power =
      std::max<unsigned>(kSmallest, static_cast<unsigned>(std::bit_width(size - (size > 0 ? 1 : 0))));
  std::unique_ptr<std::byte[]> block;
  if (power <= kLargest) {
    const std::lock_guard lock(mutex_);
    auto& blocks = free_[power];
    if (!blocks.empty()) {
      block = std::move(blocks.back());
      blocks.pop_back();
      kept_ -= std::size_t{1} << power;
    }
  }
  // Not value-initialised: the pages are only touched by what is put there.
  if (!block) block.reset(new std::byte[std::size_t{1} << power]);
  std::byte* bytes = block.release();
  return {bytes, [this, power](std::byte* given) { give_back(std::unique_ptr<std::byte[]>(given), power); }};
}

void Staging::give_back(std::unique_ptr<std::byte[]> block, unsigned power) {
  if (power > kLargest) return;
  const std::lock_guard lock(mutex_);
  if (kept_ + (std::size_t{1} << power) > kKept) return;
  kept_ += std::size_t{1} << power;
  free_[power].push_back(std::move(block));
}

}  // namespace clique::daemon::opencl
