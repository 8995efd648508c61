#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace clique::daemon::opencl {

/// Blocks of memory for data on its way, used again and again, so that their pages are there. Any thread.
class Staging {
 public:
  /// A block of at least `size` bytes, given back when its last owner lets go of it.
  std::shared_ptr<std::byte> take(std::size_t size);

 private:
  static constexpr unsigned kSmallest = 12;  // 4 KiB
  static constexpr unsigned kLargest = 23;   // 8 MiB
  static constexpr std::size_t kKept = 128U << 20U;

  void give_back(std::unique_ptr<std::byte[]> block, unsigned power);

  std::mutex mutex_;
  std::array<std::vector<std::unique_ptr<std::byte[]>>, kLargest + 1> free_;
  std::size_t kept_ = 0;
};

}  // namespace clique::daemon::opencl
