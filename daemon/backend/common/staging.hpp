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

/// Blocks of memory for data on its way, used again and again, so that their pages are there; of the sizes
/// that were asked for last, since one day's transfers are not the next one's. Any thread.
class Staging {
 public:
  /// Where blocks come from and go to.
  struct Source {
    std::function<std::byte*(std::size_t)> make;  ///< throws where there is no memory
    std::function<void(std::byte*)> destroy;
    std::size_t limit = 0;  ///< bytes that should be out at a time; 0: any number
    /// Called now and then by a thread that waits for blocks: does what makes them come back, where it is
    /// that thread which otherwise would. May be empty.
    std::function<void()> relieve = {};
  };
  /// Blocks of ordinary memory.
  Staging();
  /// The blocks that are kept are never destroyed: their source may be gone by then.
  explicit Staging(Source source) : source_(std::move(source)) {}

  /// A block of at least `size` bytes, given back when its last owner lets go of it. Where too much is out,
  /// waits for some to come back, but not for ever: who has it may wait for the caller.
  std::shared_ptr<std::byte> take(std::size_t size);
  /// The same without waiting, and without being counted: for blocks of which something else bounds the
  /// number.
  std::shared_ptr<std::byte> take_uncounted(std::size_t size);

 private:
  static constexpr unsigned kSmallest = 12;  // 4 KiB
  static constexpr unsigned kLargest = 23;   // 8 MiB
  static constexpr std::size_t kKept = 128U << 20U;

  std::shared_ptr<std::byte> make(std::size_t size, bool counted);
  void wait_for_room(std::unique_lock<std::mutex>& lock, std::size_t bytes);
  void give_back(std::byte* block, unsigned power, bool counted);
  /// So that another block can be kept, moves blocks of sizes that were asked for before its own, the first
  /// of all first, from those that are kept to `surplus`. Under mutex_. @returns whether there is room now
  bool make_way(unsigned power, std::vector<std::byte*>& surplus);

  Source source_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::array<std::vector<std::byte*>, kLargest + 1> free_;
  std::size_t kept_ = 0;
  std::array<std::uint64_t, kLargest + 1> asked_{};  // when a size was asked for last, in numbers of asking
  std::uint64_t askings_ = 0;
  std::size_t out_ = 0;  // of those that are counted
};

}  // namespace clique::daemon
