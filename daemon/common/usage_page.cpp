#include "daemon/common/usage_page.hpp"

#include <atomic>
#include <bit>
#include <tuple>

namespace clique::daemon {

namespace {

constexpr std::size_t kPageSize = 4096;
using UsageNumber = std::atomic<std::uint64_t>;
// Processes share them, so there must be no lock beside them.
static_assert(UsageNumber::is_always_lock_free);
/// Those of Usage come first, then those of Measured.
constexpr std::size_t kUsageNumbers = protocol::kFieldCount<protocol::Usage>;
static_assert((kUsageNumbers + Measured::kNumbers) * sizeof(UsageNumber) <= kPageSize);

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

void UsagePage::write(const Measured& measured) const {
  UsageNumber* next = numbers(*memory_) + kUsageNumbers;
  for (const std::uint64_t number : std::bit_cast<Measured::Numbers>(measured))
    (next++)->store(number, std::memory_order_relaxed);
}

Measured UsagePage::measured() const {
  Measured::Numbers result{};
  const UsageNumber* next = numbers(*memory_) + kUsageNumbers;
  for (std::uint64_t& number : result) number = (next++)->load(std::memory_order_relaxed);
  return std::bit_cast<Measured>(result);
}

}  // namespace clique::daemon
