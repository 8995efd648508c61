#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "daemon/backend/cuda/execution/launches.hpp"
#include "protocol/messages/commands.hpp"

namespace clique::daemon::cuda {

/// Reads of so few bytes that issuing the commands takes longer than the copy. One kernel copies the bytes
/// and writes the stream's progress word, which otherwise takes two commands. The kernel needs room among
/// other kernels, so it is used only if none are running. It does not use the copy engine, and so does not
/// wait for the chunks of large transfers there.
class SmallReads {
 public:
  /// Loads the kernel. From then on fits() accepts reads; if the driver refuses, it never does. Any thread
  /// whose current context is the GPU's.
  void load();
  /// Whether the kernel can do this read. Any thread.
  bool fits(CUdeviceptr from, std::size_t size) const {
    return size != 0 && size <= kMost && (from | size) % kUnit == 0 &&
           kernel_.load(std::memory_order_acquire) != nullptr;
  }
  /// Puts a read into the stream that fits() accepts: copies `size` bytes to pinned memory, then writes
  /// `number` to the word. Main thread. Throws ClError.
  void read(std::byte* to, CUdeviceptr from, std::size_t size, CUdeviceptr word, std::uint32_t number,
            CUstream stream) {
    launch({to, from, size, word, number, Layout::Bytes}, stream);
  }
  /// The same, but each 4 bytes become one EarlyUnit at `to`.
  void read(protocol::EarlyUnit* to, CUdeviceptr from, std::size_t size, CUdeviceptr word,
            std::uint32_t number, CUstream stream) {
    launch({to, from, size, word, number, Layout::EarlyUnits}, stream);
  }

 private:
  /// What the kernel writes; the values are the kernel's.
  enum class Layout : std::uint64_t { Bytes = 0, EarlyUnits = 1 };
  struct Read {
    void* to;
    CUdeviceptr from;
    std::size_t size;
    CUdeviceptr word;
    std::uint32_t number;
    Layout layout;
  };
  void launch(const Read& read, CUstream stream);

  /// Bytes up to which the kernel is faster than a copy on an H200.
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kUnit = sizeof(protocol::EarlyUnit::data);

  std::atomic<CUfunction> kernel_ = nullptr;
  Launches launches_;
};

}  // namespace clique::daemon::cuda
