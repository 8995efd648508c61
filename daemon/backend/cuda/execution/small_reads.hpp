#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "daemon/backend/cuda/execution/launches.hpp"
#include "protocol/messages/commands.hpp"

namespace clique::daemon::cuda {

/// Reads of so few bytes that starting the copy engine takes longer than the copy. One kernel of one
/// work-group copies the bytes and writes the stream's progress word, which otherwise takes two commands. The
/// kernel needs room among other kernels, so it is used only if none are running in other streams. It does
/// not wait for the chunks of large transfers in the copy engine.
class SmallReads {
 public:
  /// Loads the kernels. From then on fits() accepts reads; if the driver refuses, it never does. Any thread
  /// whose current context is the GPU's.
  void load();
  /// Whether a kernel can do this read. Any thread.
  bool fits(CUdeviceptr from, std::size_t size) const {
    return size != 0 && size <= kMost && (from | size) % (size <= kMostAlone ? kUnit : kWide) == 0 &&
           loaded_.load(std::memory_order_acquire);
  }
  /// Whether the kernel is faster than a copy only behind another kernel, where a copy has to wait until the
  /// copy engine learns of that kernel's end.
  static bool only_after_kernel(std::size_t size) { return size > kMostAlone; }
  /// The pinned memory that a read fills.
  struct Place {
    std::byte* bytes = nullptr;  ///< for the data
    /// If there are no `bytes`: for the data, as units of 4 bytes each. Otherwise, if not null, the unit
    /// whose flag is set when all bytes are there.
    protocol::EarlyUnit* units = nullptr;
  };
  /// Puts a read into the stream that fits() accepts: copies `size` bytes, then writes `number` to the word.
  /// Main thread. Throws ClError.
  void read(const Place& to, CUdeviceptr from, std::size_t size, CUdeviceptr word, std::uint32_t number,
            CUstream stream);

 private:
  /// Bytes up to which a kernel is faster than a copy on an H200, behind another kernel.
  static constexpr std::size_t kMost = std::size_t{256} << 10;
  /// Bytes up to which it also is if the stream has nothing else to do. Such a read may begin and end at any
  /// multiple of kUnit, a longer one only at multiples of kWide.
  static constexpr std::size_t kMostAlone = 4096;
  static constexpr std::size_t kUnit = sizeof(protocol::EarlyUnit::data);
  /// Bytes that a thread of the kernel `wide_` copies at once.
  static constexpr std::size_t kWide = 16;

  /// A kernel and its launches.
  struct Kernel {
    CUfunction function = nullptr;
    Launches launches;
  };

  std::atomic<bool> loaded_ = false;  // the functions are set
  Kernel small_;                      // for places that are no multiples of kWide, and for units
  Kernel wide_;
};

}  // namespace clique::daemon::cuda
