#include "daemon/common/usage_page.hpp"

#include <atomic>
#include <tuple>

namespace clique::daemon {

namespace {

constexpr std::size_t kPageSize = 4096;
using UsageNumber = std::atomic<std::uint64_t>;
// Processes share them, so there must be no lock beside them.
static_assert(UsageNumber::is_always_lock_free);
static_assert(protocol::kFieldCount<protocol::Usage> * sizeof(UsageNumber) <= kPageSize);

/// Zeros are valid numbers, so nobody has to construct them.
UsageNumber* numbers(const protocol::SharedSegment& memory) {
  return reinterpret_cast<UsageNumber*>(memory.bytes().data());
}

}  // namespace

UsagePage::UsagePage() : memory_(protocol::SharedSegment::create(kPageSize)) {}

UsagePage::UsagePage(Fd memory) : memory_(protocol::SharedSegment::open(std::move(memory), kPageSize)) {}

void UsagePage::write(const protocol::Usage& usage) const {
  UsageNumber* next = numbers(*memory_);
  std::apply([&](auto... value) { ((next++)->store(value, std::memory_order_relaxed), ...); },
             usage.fields());
}

protocol::Usage UsagePage::read() const {
  protocol::Usage usage;
  const UsageNumber* next = numbers(*memory_);
  std::apply([&](auto&... value) { ((value = (next++)->load(std::memory_order_relaxed)), ...); },
             usage.fields());
  return usage;
}

}  // namespace clique::daemon
