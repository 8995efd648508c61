#include "icd/common/object.hpp"

#include <pthread.h>

namespace clique::icd {

namespace {

using Registries = std::array<Registry, static_cast<std::size_t>(Kind::kCount)>;

// Never destroyed: applications use handles until the last instruction of the process. A forked child
// replaces the registries instead of emptying them, since another thread of the parent may have held a lock
// at the time of the fork.
std::atomic<Registries*> registries{nullptr};

Registries& current() {
  static const bool once = [] {
    registries = new Registries;
    pthread_atfork(nullptr, nullptr, [] { registries = new Registries; });
    return true;
  }();
  static_cast<void>(once);
  return *registries.load(std::memory_order_acquire);
}

}  // namespace

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void Registry::insert(const void* handle) {
  auto& shard = const_cast<Shard&>(shard_of(handle));
  const std::unique_lock lock(shard.mutex);
  shard.handles.insert(handle);
}

void Registry::erase(const void* handle) {
  auto& shard = const_cast<Shard&>(shard_of(handle));
  const std::unique_lock lock(shard.mutex);
  shard.handles.erase(handle);
}

Registry& registry(Kind kind) {
  return current()[static_cast<std::size_t>(kind)];
}

}  // namespace clique::icd
