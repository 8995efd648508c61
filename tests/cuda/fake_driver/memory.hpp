#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "common.hpp"

namespace fake_cuda {

/// The memory that is allocated or registered. Any thread.
class Memory {
 public:
  CUdeviceptr take(std::size_t size) {
    return add({std::aligned_alloc(512, (size + 511) / 512 * 512), size, -1});
  }
  /// Allocates memory that other processes can open through /proc.
  CUdeviceptr take_file(std::size_t size) {
    const int file = ::memfd_create("fake GPU memory", 0);
    if (::ftruncate(file, static_cast<off_t>(size)) != 0) return 0;
    return add_file(file, size);
  }
  CUdeviceptr add_file(int file, std::size_t size) {
    void* block = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return block != MAP_FAILED ? add({block, size, file}) : 0;
  }
  void give_back(CUdeviceptr address) {
    Block block;
    {
      const std::lock_guard lock(mutex_);
      block = blocks_.at(address);
      blocks_.erase(address);
    }
    if (block.file < 0) {
      std::free(block.memory);
    } else {
      ::munmap(block.memory, block.size);
      ::close(block.file);
    }
  }
  /// Adds memory that exists already.
  void add_mapped(CUdeviceptr address, std::size_t size) {
    add({reinterpret_cast<void*>(address), size, -1});
  }
  void add_registered(CUdeviceptr address, std::size_t size) {
    add({reinterpret_cast<void*>(address), size, -1, true});
  }
  /// Whether the address is in host memory that was registered.
  bool is_registered(CUdeviceptr address) {
    const std::lock_guard lock(mutex_);
    const auto after = blocks_.upper_bound(address);
    if (after == blocks_.begin()) return false;
    const Block& block = std::prev(after)->second;
    return block.registered && address - std::prev(after)->first < block.size;
  }
  void forget(CUdeviceptr address) {
    const std::lock_guard lock(mutex_);
    blocks_.erase(address);
  }
  struct Block {
    void* memory = nullptr;
    std::size_t size = 0;
    int file = -1;
    bool registered = false;
  };
  std::optional<Block> find(CUdeviceptr address) {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(address);
    return block != blocks_.end() ? std::optional(block->second) : std::nullopt;
  }
  /// Breaks the context if the range is not in allocated memory. It may be in several blocks without gaps
  /// between them, as in memory that was mapped piece by piece.
  bool owns(CUdeviceptr address, std::size_t size) {
    const std::lock_guard lock(mutex_);
    auto block = blocks_.upper_bound(address);
    CUdeviceptr end = address;
    if (block != blocks_.begin() && std::prev(block)->first + std::prev(block)->second.size >= address)
      for (--block; block != blocks_.end() && block->first <= end && end < address + size; ++block)
        end = std::max(end, block->first + block->second.size);
    const bool inside = end >= address + size;
    if (!inside) broken = CUDA_ERROR_ILLEGAL_ADDRESS;
    return inside;
  }

 private:
  CUdeviceptr add(Block block) {
    const std::lock_guard lock(mutex_);
    const auto address = reinterpret_cast<CUdeviceptr>(block.memory);
    blocks_[address] = block;
    return address;
  }

  std::mutex mutex_;
  std::map<CUdeviceptr, Block> blocks_;
};

// Threads of streams run until the process ends.
inline Memory& memory = *new Memory;

/// Memory that is mapped at reserved addresses. As on a GPU, it is there from its creation until nothing
/// names it and nothing maps it any more, and its first content is arbitrary.
class Pages {
 public:
  static constexpr std::size_t kGranularity = 2U << 20U;
  static constexpr std::size_t kAll = std::size_t{4} << 30U;

  CUresult create(CUmemGenericAllocationHandle* handle, std::size_t size) {
    const std::lock_guard lock(mutex_);
    if (size == 0 || size % kGranularity != 0) return CUDA_ERROR_INVALID_VALUE;
    if (size > kAll - created_) return CUDA_ERROR_OUT_OF_MEMORY;
    created_ += size;
    *handle = ++last_;
    pieces_[*handle] = {size};
    return CUDA_SUCCESS;
  }
  CUresult release(CUmemGenericAllocationHandle handle) {
    const std::lock_guard lock(mutex_);
    const auto piece = pieces_.find(handle);
    if (piece == pieces_.end() || piece->second.released) return CUDA_ERROR_INVALID_VALUE;
    piece->second.released = true;
    forget_unused(piece);
    return CUDA_SUCCESS;
  }
  CUresult map(CUdeviceptr address, std::size_t size, CUmemGenericAllocationHandle handle) {
    const std::lock_guard lock(mutex_);
    const auto piece = pieces_.find(handle);
    if (piece == pieces_.end() || piece->second.released || piece->second.size != size ||
        address % kGranularity != 0)
      return CUDA_ERROR_INVALID_VALUE;
    const auto after = mappings_.lower_bound(address);
    const bool free =
        (after == mappings_.end() || after->first >= address + size) &&
        (after == mappings_.begin() || std::prev(after)->first + std::prev(after)->second.size <= address);
    if (!free) return CUDA_ERROR_ALREADY_MAPPED;
    ++piece->second.mappings;
    mappings_[address] = {size, handle};
    return CUDA_SUCCESS;
  }
  CUresult set_access(CUdeviceptr address, std::size_t size) {
    const std::lock_guard lock(mutex_);
    const auto mapping = mappings_.find(address);
    if (mapping == mappings_.end() || mapping->second.size != size) return CUDA_ERROR_INVALID_VALUE;
    void* const there = reinterpret_cast<void*>(address);
    if (::mprotect(there, size, PROT_READ | PROT_WRITE) != 0) return CUDA_ERROR_INVALID_VALUE;
    std::memset(there, 0xA5, size);
    memory.add_mapped(address, size);
    return CUDA_SUCCESS;
  }
  CUresult unmap(CUdeviceptr address, std::size_t size) {
    const std::lock_guard lock(mutex_);
    const auto mapping = mappings_.find(address);
    if (mapping == mappings_.end() || mapping->second.size != size) return CUDA_ERROR_INVALID_VALUE;
    memory.forget(address);
    void* const there = reinterpret_cast<void*>(address);
    if (::madvise(there, size, MADV_DONTNEED) != 0 || ::mprotect(there, size, PROT_NONE) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    const auto piece = pieces_.find(mapping->second.handle);
    mappings_.erase(mapping);
    --piece->second.mappings;
    forget_unused(piece);
    return CUDA_SUCCESS;
  }

 private:
  struct Piece {
    std::size_t size = 0;
    unsigned mappings = 0;
    bool released = false;
  };
  struct Mapping {
    std::size_t size;
    CUmemGenericAllocationHandle handle;
  };
  using Pieces = std::map<CUmemGenericAllocationHandle, Piece>;
  void forget_unused(Pieces::iterator piece) {
    if (!piece->second.released || piece->second.mappings != 0) return;
    created_ -= piece->second.size;
    pieces_.erase(piece);
  }

  std::mutex mutex_;
  std::size_t created_ = 0;
  CUmemGenericAllocationHandle last_ = 0;
  Pieces pieces_;
  std::map<CUdeviceptr, Mapping> mappings_;
};
inline Pages& pages = *new Pages;

}  // namespace fake_cuda
