#include "daemon/worker/segments.hpp"

#include <string>

#include "daemon/worker/backend.hpp"

namespace clique::daemon {

void Segments::add(protocol::ObjectId id, std::shared_ptr<protocol::SharedSegment> segment) {
  const auto bytes = segment->bytes();
  backend_.share(bytes);
  // The last command to use it may complete on any thread, but the backend is called on the main thread.
  const std::shared_ptr<const void> life(bytes.data(), [this, segment = std::move(segment)](const void*) {
    tasks_.post([this, segment] { backend_.unshare(segment->bytes()); });
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
