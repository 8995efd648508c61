#include "daemon/backend/cuda/execution/printf_buffers.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "daemon/compiler/contract/printf_format.hpp"
#include "daemon/compiler/library/abi.h"

namespace clique::daemon::cuda {

namespace {

constexpr std::size_t kSize = sizeof(clique_printf_buffer) + PrintfBuffers::kCapacity;
/// Bytes that are always fetched. Most kernels print less, and only afterwards is it known whether there is
/// more.
constexpr std::size_t kBegin = 16U << 10U;

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void PrintfBuffers::Buffer::clear(CUstream stream) const {
  CLIQUE_CUDA(MemsetD32Async(address(), 0, 1, stream));
}

void PrintfBuffers::Buffer::fetch(CUstream stream) const {
  CLIQUE_CUDA(MemcpyDtoHAsync(host_, address(), kBegin, stream));
}

void PrintfBuffers::Buffer::print(const compiler::ProgramBinary& program) const {
  clique_printf_buffer header{};
  std::memcpy(&header, host_, sizeof header);
  if (header.used == 0) return;
  const std::size_t end = sizeof header + std::min(header.used, kCapacity);
  if (end > kBegin) {
    CUstream stream = nullptr;
    if (driver().StreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS) return;
    const bool fetched =
        driver().MemcpyDtoHAsync(host_ + kBegin, address() + kBegin, end - kBegin, stream) == CUDA_SUCCESS &&
        driver().StreamSynchronize(stream) == CUDA_SUCCESS;
    static_cast<void>(driver().StreamDestroy(stream));
    if (!fetched) return;
  }
  write_all(compiler::format_printf_buffer(program, {host_, end}));
}

std::shared_ptr<const PrintfBuffers::Buffer> PrintfBuffers::take() {
  std::unique_ptr<Buffer> buffer;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      buffer = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!buffer) {
    buffer = std::make_unique<Buffer>();
    const clique_printf_buffer header{0, kCapacity};
    void* host = nullptr;
    CLIQUE_CUDA(MemHostAlloc(&host, kSize, CU_MEMHOSTALLOC_PORTABLE));
    buffer->host_ = static_cast<std::byte*>(host);
    std::memset(host, 0, kSize);
    std::memcpy(host, &header, sizeof header);
    buffer->device_ = memory_.copy_of(host, kSize);
  }
  return {buffer.release(), [this](const Buffer* used) {
            const std::lock_guard lock(mutex_);
            free_.emplace_back(const_cast<Buffer*>(used));
          }};
}

}  // namespace clique::daemon::cuda
