#include "icd/core/early_read.hpp"

#include <cstring>

#include "icd/core/context.hpp"
#include "icd/core/worker.hpp"

namespace clique::icd {

std::shared_ptr<EarlyRead> EarlyRead::make(const Link& link, std::size_t size) {
  auto block = link.take_shared(size + kUnit);
  if (!block.bytes) return nullptr;
  std::shared_ptr<EarlyRead> read(new EarlyRead(std::move(block), size));
  __atomic_store_n(&read->word(), 0, __ATOMIC_RELAXED);
  return read;
}

bool EarlyRead::wait(Event& event, void* to) {
  // What these are told by may be another node's connection, which Event::wait() receives from, too.
  if (event.follows_others()) return false;
  event.context()->flush();
  event.worker()->link().wait(
      [&] { return event.ended() || __atomic_load_n(&word(), __ATOMIC_ACQUIRE) != 0; });
  if (event.ended() || !claim()) return false;
  std::memcpy(to, block_.bytes.get(), size_);
  event.worker()->outrun(event.id());
  return true;
}

}  // namespace clique::icd
