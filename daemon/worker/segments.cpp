#include "daemon/worker/segments.hpp"

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
