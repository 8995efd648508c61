#include "daemon/worker/transfers/segments.hpp"

#include <CL/cl.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "daemon/worker/backend.hpp"
#include "protocol/transport/placed_memory.hpp"

namespace clique::daemon {

void Segments::add(protocol::ObjectId id, std::shared_ptr<protocol::SharedSegment> segment) {
  const auto bytes = segment->bytes();
  backend_.share(bytes);
  insert(id, bytes, std::move(segment));
}

void Segments::add_at(std::uint64_t address, protocol::ObjectId id, const protocol::SharedSegment& segment) {
  using Owner = std::pair<MemoryBudget::Share, std::shared_ptr<const protocol::PlacedMemory>>;
  const std::size_t size = segment.bytes().size();
  const auto owner = std::make_shared<Owner>(budget_.take(size), nullptr);
  owner->second = protocol::PlacedMemory::at(address, segment.bytes());
  if (!owner->second)
    throw ClError(CL_MEM_OBJECT_ALLOCATION_FAILURE,
                  "they cannot be mapped at the same address in the worker: " +
                      (errno == EEXIST ? "it is in use there" : std::generic_category().message(errno)));
  const auto bytes = owner->second->bytes();
  backend_.share_in_place(bytes);
  budget_.note_peak();
  insert(id, bytes, owner);
}

void Segments::insert(protocol::ObjectId id, std::span<std::byte> bytes, std::shared_ptr<const void> owner) {
  // The last user may be done with it on any thread, but the backend is called on the main thread.
  const std::shared_ptr<const void> life(bytes.data(), [this, bytes, owner = std::move(owner)](const void*) {
    tasks_.post([this, bytes, owner] { backend_.unshare(bytes); });
  });
  segments_[id] = {bytes, life};
}

void Segments::place(const protocol::PlaceSegment& segment, std::function<void()> freed) {
  const auto& [id, at, size] = segment;
  const auto fail = [&segment](const std::string& why) {
    throw RuleBroken("segment " + std::to_string(segment.segment) + " is to have " +
                     std::to_string(segment.size) + " bytes at " + std::to_string(segment.at) + " of " + why);
  };
  if (!memory_) fail("memory of a virtual machine, which the session does not have");
  const auto bytes = memory_->bytes();
  if (size == 0 || size > bytes.size() || at > bytes.size() - size)
    fail("the session's memory for segments, which has " + std::to_string(bytes.size()) + " bytes");
  if (segments_.contains(id)) fail("the session's memory for segments, and exists already");
  if (!std::exchange(pinned_, true)) backend_.share(bytes);
  // As for other segments: the last user may be done with it on any thread, also when the session ends.
  const std::shared_ptr<const void> life(
      bytes.data(), [this, freed = std::move(freed)](const void*) { tasks_.post(freed); });
  segments_[id] = {bytes.subspan(at, size), life};
}

std::shared_ptr<std::byte> Segments::find(protocol::ObjectId id, std::uint64_t at, std::uint64_t size) const {
  const auto found = segments_.find(id);
  if (found == segments_.end()) throw RuleBroken("segment " + std::to_string(id) + " is not shared");
  const auto& [bytes, life] = found->second;
  if (size > bytes.size() || at > bytes.size() - size)
    throw RuleBroken(std::to_string(size) + " bytes at " + std::to_string(at) + " of segment " +
                     std::to_string(id) + ", which has " + std::to_string(bytes.size()) + " bytes");
  return {std::const_pointer_cast<void>(life), bytes.data() + at};
}

}  // namespace clique::daemon
