#include "icd/remote/transfers/guest_segments.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cstring>
#include <exception>

#include "protocol/decode_error.hpp"
#include "protocol/fd.hpp"
#include "protocol/transport/guest_memory.hpp"

namespace clique::icd {

namespace {

/// Segments begin at multiples of this, so that they share no pages.
constexpr std::size_t kSegmentAlignment = 4096;

}  // namespace

std::shared_ptr<GuestSegments> GuestSegments::open(const std::string& file, std::uint64_t at,
                                                   std::uint64_t size) {
  if (at < protocol::kGuestMemoryHead || size == 0) return nullptr;
  try {
    const Fd memory(::open(file.c_str(), O_RDWR | O_CLOEXEC));
    if (!memory) return nullptr;
    return std::shared_ptr<GuestSegments>(
        new GuestSegments(protocol::SharedSegment::part_of(memory, at, size)));
  } catch (const std::exception&) {
    return nullptr;
  }
}

GuestSegments::GuestSegments(std::shared_ptr<protocol::SharedSegment> memory)
    : memory_(std::move(memory)), free_(memory_->bytes().size() / kSegmentAlignment * kSegmentAlignment) {}

std::optional<GuestSegments::Place> GuestSegments::take(protocol::ObjectId segment, std::size_t size) {
  if (size == 0 || size > memory_->bytes().size()) return std::nullopt;
  const std::size_t bytes = (size + kSegmentAlignment - 1) / kSegmentAlignment * kSegmentAlignment;
  const std::lock_guard lock(mutex_);
  if (left_) return std::nullopt;
  const auto at = free_.take(bytes);
  if (!at) return std::nullopt;
  segments_.emplace(segment, std::pair(*at, bytes));
  return Place{{memory_, memory_->bytes().data() + *at}, *at};
}

void GuestSegments::freed(protocol::ObjectId segment) {
  const std::lock_guard lock(mutex_);
  const auto place = segments_.find(segment);
  if (place == segments_.end())
    throw protocol::DecodeError("segment " + std::to_string(segment) + ", which was not placed, is freed");
  free_.give_back(place->second.first, place->second.second);
  segments_.erase(place);
}

void GuestSegments::leave() {
  const std::lock_guard lock(mutex_);
  if (std::exchange(left_, true) || segments_.empty()) return;
  for (const auto& [id, place] : segments_) {
    std::byte* const begin = memory_->bytes().data() + place.first;
    void* const own =
        ::mmap(nullptr, place.second, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // Without memory for that, the segment stays where it is: its content is worth more than that of a
    // session which may get the part later.
    if (own == MAP_FAILED) continue;
    std::memcpy(own, begin, place.second);
    if (::mremap(own, place.second, place.second, MREMAP_MAYMOVE | MREMAP_FIXED, begin) == MAP_FAILED)
      ::munmap(own, place.second);
  }
}

}  // namespace clique::icd
