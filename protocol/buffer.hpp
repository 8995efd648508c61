#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

namespace clique::protocol {

/// Bytes that are appended to: the output of msgpack::packer. Keeps its memory when it is cleared. Not
/// thread-safe.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept
      : bytes_(std::move(other.bytes_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() = default;

  void write(const char* bytes, std::size_t size) {
    if (size > capacity_ - size_) [[unlikely]]
      grow(size);
    char* const to = bytes_.get() + size_;
    size_ += size;
    // A number comes in up to 9 bytes that msgpack has just written one by one. Reading them as a word would
    // have to wait for these writes.
    constexpr std::size_t kNumber = 9;
    if (size <= kNumber) {
      for (std::size_t i = 0; i < size; ++i) to[i] = bytes[i];
    } else {
      std::memcpy(to, bytes, size);
    }
  }
  void clear() { size_ = 0; }

  const char* data() const { return bytes_.get(); }
  const char* begin() const { return data(); }
  const char* end() const { return data() + size_; }
  std::size_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(data(), size_)); }

 private:
  /// Makes room for `size` more bytes.
  [[gnu::cold, gnu::noinline]] void grow(std::size_t size);

  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace clique::protocol
