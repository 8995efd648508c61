#include "daemon/backend/common/outgoing_push.hpp"

#include <algorithm>
#include <utility>

#include "daemon/backend/common/checks.hpp"

namespace clique::daemon {

void OutgoingPush::shorten(const std::array<std::uint8_t, 8>& number) {
  const std::uint64_t size = meant_size(message_, number);
  if (size == size_) return;
  size_ = size;
  peers_.send(message_.peer, protocol::PeerData{message_.transfer, message_.at + size, 0, {}});
}

OutgoingPush::Part OutgoingPush::next(std::uint64_t limit) {
  Part part;
  part.offset = next_;
  const std::uint64_t most = std::min(limit, size_ - next_);
  part.block = image_ ? block_at(*image_, message_.offset + next_, most) : protocol::ImageBlock{{}, {}, most};
  ++on_the_way_;
  next_ += part.block.size;
  return part;
}

bool OutgoingPush::part_sent() {
  const bool last = --on_the_way_ == 0;
  return last || !all_read();
}

void OutgoingPush::send(std::uint64_t offset, std::span<const std::byte> data,
                        std::shared_ptr<const void> owner) const {
  peers_.send(message_.peer,
              protocol::PeerData{message_.transfer, message_.at + offset, 0, {data, std::move(owner)}});
}

bool OutgoingPush::fail(std::int32_t status) {
  if (failed_.exchange(true)) return false;
  refuse(peers_, message_, status);
  return true;
}

void OutgoingPush::refuse(PeerLinks& peers, const protocol::Push& message, std::int32_t status) {
  peers.send(message.peer, protocol::PeerData{message.transfer, 0, status, {}});
}

}  // namespace clique::daemon
