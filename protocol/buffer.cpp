#include "protocol/buffer.hpp"

#include <algorithm>

namespace clique::protocol {

void Buffer::grow(std::size_t size) {
  // Holds most batches.
  constexpr std::size_t kFirst = 8192;
  const std::size_t capacity = std::max({kFirst, 2 * capacity_, size_ + size});
  auto bytes = std::make_unique_for_overwrite<char[]>(capacity);
  if (size_ > 0) std::memcpy(bytes.get(), bytes_.get(), size_);
  bytes_ = std::move(bytes);
  capacity_ = capacity;
}

}  // namespace clique::protocol
