#include "icd/core/transfers/early_read.hpp"

#include <cstring>
#include <utility>

#include "icd/core/events/event.hpp"
#include "icd/core/workers/pending_commands.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/transfers/copy.hpp"
#include "icd/trace/trace.hpp"

namespace clique::icd {

using protocol::EarlyUnit;

std::size_t EarlyRead::place_size(std::size_t size) {
  return only_from_gpus(size) ? protocol::landing_size(size) : size / kUnit * sizeof(EarlyUnit);
}

EarlyRead::EarlyRead(std::shared_ptr<std::byte> memory, std::uint64_t offset, std::size_t size)
    : memory_(std::move(memory)),
      offset_(offset),
      size_(size),
      count_(in_units() ? size / kUnit : 1),
      units_(reinterpret_cast<EarlyUnit*>(memory_.get() + place_size(size)) - count_) {
  std::uninitialized_value_construct_n(units_, count_);
}

std::shared_ptr<EarlyRead> EarlyRead::make(const Link& link, std::size_t size) {
  auto block = link.take_shared(place_size(size));
  if (!block.bytes) return nullptr;
  return std::shared_ptr<EarlyRead>(new EarlyRead(std::move(block.bytes), block.offset, size));
}

void EarlyRead::announce(protocol::ReadBuffer& message) const {
  (in_units() ? message.early : message.landing) = offset_ + place_size(size_);
}

std::size_t EarlyRead::count_arrived(std::size_t from) const {
  while (from < count_ && std::atomic_ref(units_[from]).load(std::memory_order_acquire).there != 0) ++from;
  return from;
}

bool EarlyRead::wait(Event& event, void* to) {
  const trace::Wait waiting([&] { return event.text(); });
  std::size_t arrived = 0;
  if (event.order().follows_pending()) {
    // Those may be reported through another node's connection, from which Event::wait() receives as well.
    event.wait();
  } else {
    event.flush();
    event.worker()->link().wait(
        [&] { return event.ended() || (arrived = count_arrived(arrived)) == count_; });
  }
  if (event.status() < 0 || count_arrived(arrived) != count_ || !claim()) return false;
  if (in_units())
    for (std::size_t i = 0; i < count_; ++i)
      std::memcpy(static_cast<std::byte*>(to) + i * kUnit, &units_[i].data, kUnit);
  else
    icd::copy(static_cast<std::byte*>(to), memory_.get(), size_);
  if (!event.ended()) event.worker()->pending().set_outrun(event.id());
  return true;
}

}  // namespace clique::icd
