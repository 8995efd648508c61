#include "icd/remote/transfers/shared_route.hpp"

#include <utility>

#include "icd/remote/link/outbox.hpp"
#include "icd/remote/transfers/copy.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::icd {

SharedRoute::SharedRoute(std::shared_ptr<protocol::SharedMemory> shared, Outbox& outbox)
    : shared_(std::move(shared)), outbox_(outbox) {}

void SharedRoute::send(protocol::PeerData&& part) {
  // Copied here, before the outbox is locked: other threads can send meanwhile. The outbox copies the part
  // itself if there is no room now.
  const auto from = part.data.bytes;
  if (const auto block = shared_->take(from.size())) {
    copy(block.get(), from.data(), from.size());
    part.data = {{block.get(), from.size()}, block};
  }
  outbox_.compose([&](protocol::Batch& batch) { batch.add(part); });
  outbox_.flush();
}

}  // namespace clique::icd
