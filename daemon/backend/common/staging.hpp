#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace clique::daemon {

/// Blocks of memory for data on its way. Blocks that come back are kept for reuse, since their pages are
/// mapped already. If too much is kept, blocks of the size that was asked for longest ago are destroyed
/// first. Any thread.
class Staging {
 public:
  /// Where blocks come from and go to.
  struct Source {
    std::function<std::byte*(std::size_t)> make;  ///< throws if there is no memory
    std::function<void(std::byte*)> destroy;
    std::size_t limit = 0;  ///< bytes that should be in use at a time; 0: unlimited
    /// Called repeatedly by a thread that waits for blocks, so that it does itself what returns them. May be
    /// empty.
    std::function<void()> relieve = {};
  };
  /// Blocks of ordinary memory.
  Staging();
  /// The destructor does not destroy the blocks that are kept, since their source may be gone by then.
  explicit Staging(Source source) : source_(std::move(source)) {}

  /// A block of at least `size` bytes, which comes back when its last owner releases it. If the limit is
  /// reached, waits for blocks to come back, but only for 100 ms: their owners may be waiting for the caller.
  std::shared_ptr<std::byte> take(std::size_t size);
  /// Like take(), but never waits, and the block does not count towards the limit. For blocks whose number is
  /// limited otherwise.
  std::shared_ptr<std::byte> take_uncounted(std::size_t size);

 private:
  static constexpr unsigned kSmallest = 12;  // 4 KiB
  static constexpr unsigned kLargest = 23;   // 8 MiB
  static constexpr std::size_t kKept = 128U << 20U;

  std::shared_ptr<std::byte> make(std::size_t size, bool counted);
  void wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t bytes);
  void give_back(std::byte* block, unsigned power, bool counted);
  /// Makes room for keeping another block: moves kept blocks of sizes that were asked for longer ago to
  /// `surplus`, the oldest first. The caller holds mutex_. @returns whether there is room now.
  bool make_way(unsigned power, std::vector<std::byte*>& surplus);

  Source source_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::array<std::vector<std::byte*>, kLargest + 1> free_;
  std::size_t kept_ = 0;
  std::array<std::uint64_t, kLargest + 1> asked_{};  // the value of askings_ when a size was asked for last
  std::uint64_t askings_ = 0;
  std::size_t out_ = 0;  // bytes in use that count towards the limit
};

}  // namespace clique::daemon
