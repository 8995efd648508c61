#include "icd/core/transfers/early_read.hpp"

#include <cstring>

#include "icd/core/objects/context.hpp"
#include "icd/core/workers/worker.hpp"

namespace clique::icd {

using protocol::EarlyUnit;

EarlyRead::EarlyRead(Link::SharedBlock block, std::size_t count)
    : block_(std::move(block)), units_(reinterpret_cast<EarlyUnit*>(block_.bytes.get())), count_(count) {
  std::uninitialized_value_construct_n(units_, count_);
}

std::shared_ptr<EarlyRead> EarlyRead::make(const Link& link, std::size_t size) {
  const std::size_t count = size / kUnit;
  auto block = link.take_shared(count * sizeof(EarlyUnit));
  if (!block.bytes) return nullptr;
  return std::shared_ptr<EarlyRead>(new EarlyRead(std::move(block), count));
}

std::size_t EarlyRead::count_there(std::size_t from) const {
  while (from < count_ && std::atomic_ref(units_[from]).load(std::memory_order_acquire).there != 0) ++from;
  return from;
}

bool EarlyRead::wait(Event& event, void* to) {
  std::size_t there = 0;
  const auto done = [&] { return event.ended() || (there = count_there(there)) == count_; };
  if (event.follows_others()) {
    // What these are told by may be another node's connection, which Event::wait() receives from, too.
    event.wait();
  } else {
    event.context()->flush();
    event.worker()->link().wait(done);
  }
  if (event.status() < 0 || count_there(there) != count_ || !claim()) return false;
  for (std::size_t i = 0; i < count_; ++i)
    std::memcpy(static_cast<std::byte*>(to) + i * kUnit, &units_[i].data, kUnit);
  if (!event.ended()) event.worker()->outrun(event.id());
  return true;
}

}  // namespace clique::icd
