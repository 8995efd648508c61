#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "daemon/backend/cuda/gpu/memory.hpp"
#include "daemon/compiler/contract/program_binary.hpp"

namespace clique::daemon::cuda {

/// Buffers in which kernels leave what they print: one for each launch under way.
class PrintfBuffers {
 public:
  /// Bytes of records that a launch can print: CL_DEVICE_PRINTF_BUFFER_SIZE.
  static constexpr std::uint32_t kCapacity = 2U << 20U;

  explicit PrintfBuffers(DeviceMemory& memory) : memory_(memory) {}

  /// One launch's buffer.
  class Buffer {
   public:
    CUdeviceptr address() const { return *device_; }
    /// Puts into the stream, before the kernel, that the buffer becomes empty.
    void clear(CUstream stream) const;
    /// Puts into the stream, after the kernel, a copy of the buffer's beginning to the host.
    void fetch(CUstream stream) const;
    /// Writes the text to the standard output, after the stream has reached fetch(). Waits for the GPU if
    /// there is much text, so not on the main thread.
    void print(const compiler::ProgramBinary& program) const;

   private:
    friend class PrintfBuffers;
    std::shared_ptr<const CUdeviceptr> device_;
    std::byte* host_ = nullptr;
  };

  /// A buffer, reused when its last owner releases it. Main thread. Throws ClError.
  std::shared_ptr<const Buffer> take();

 private:
  DeviceMemory& memory_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Buffer>> free_;
};

}  // namespace clique::daemon::cuda
