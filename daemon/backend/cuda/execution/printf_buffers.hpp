#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "daemon/backend/cuda/gpu/memory.hpp"
#include "daemon/compiler/contract/program_binary.hpp"

namespace clique::daemon::cuda {

/// Where kernels leave what they print: a buffer for each launch that is under way.
class PrintfBuffers {
 public:
  /// What a launch can print, in bytes of records; CL_DEVICE_PRINTF_BUFFER_SIZE.
  static constexpr std::uint32_t kCapacity = 2U << 20U;

  explicit PrintfBuffers(DeviceMemory& memory) : memory_(memory) {}

  /// One launch's buffer.
  class Buffer {
   public:
    CUdeviceptr address() const { return *device_; }
    /// Puts into the stream that the buffer is empty. Before the kernel.
    void clear(CUstream stream) const;
    /// Puts into the stream that its begin comes to the host. After the kernel.
    void fetch(CUstream stream) const;
    /// Writes the text to the standard output. After the stream has come there; not on the main thread.
    void print(const compiler::ProgramBinary& program) const;

   private:
    friend class PrintfBuffers;
    std::shared_ptr<const CUdeviceptr> device_;
    std::byte* host_ = nullptr;
  };

  /// An empty buffer, for as long as somebody owns it. Main thread. Throws ClError.
  std::shared_ptr<const Buffer> take();

 private:
  DeviceMemory& memory_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Buffer>> free_;
};

}  // namespace clique::daemon::cuda
