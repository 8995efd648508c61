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
/// Those of Usage come first, then those of SessionLinks and Measured, and the number of queued commands.
constexpr std::size_t kUsageNumbers = protocol::kFieldCount<protocol::Usage>;
constexpr std::size_t kLinkNumbers = protocol::kFieldCount<LinkUsage>;
constexpr std::size_t kMeasuredAt = kUsageNumbers + 2 * kLinkNumbers;
static_assert(protocol::kFieldCount<SessionLinks> == 2);
constexpr std::size_t kQueuedAt = kMeasuredAt + Measured::kNumbers;
static_assert((kQueuedAt + 1) * sizeof(UsageNumber) <= kPageSize);

/// Zeros are valid numbers, so nobody has to construct them.
UsageNumber* numbers(const protocol::SharedSegment& memory) {
  return reinterpret_cast<UsageNumber*>(memory.bytes().data());
}

/// The values of one struct's fields, one after the other.
template <typename Values>
void store_numbers(UsageNumber* to, Values values) {
  std::apply([&](auto... value) { ((to++)->store(value, std::memory_order_relaxed), ...); }, values);
}
template <typename Values>
void load_numbers(const UsageNumber* from, Values values) {
  std::apply([&](auto&... value) { ((value = (from++)->load(std::memory_order_relaxed)), ...); }, values);
}

}  // namespace

UsagePage::UsagePage() : memory_(protocol::SharedSegment::create(kPageSize)) {}

UsagePage::UsagePage(Fd memory) : memory_(protocol::SharedSegment::open(std::move(memory), kPageSize)) {}

void UsagePage::write(const protocol::Usage& usage) const {
  store_numbers(numbers(*memory_), usage.fields());
}

protocol::Usage UsagePage::read() const {
  protocol::Usage usage;
  load_numbers(numbers(*memory_), usage.fields());
  return usage;
}

void UsagePage::write(const SessionLinks& links) const {
  store_numbers(numbers(*memory_) + kUsageNumbers, links.client.fields());
  store_numbers(numbers(*memory_) + kUsageNumbers + kLinkNumbers, links.peers.fields());
}

SessionLinks UsagePage::links() const {
  SessionLinks links;
  load_numbers(numbers(*memory_) + kUsageNumbers, links.client.fields());
  load_numbers(numbers(*memory_) + kUsageNumbers + kLinkNumbers, links.peers.fields());
  return links;
}

void UsagePage::write(const Measured& measured) const {
  UsageNumber* next = numbers(*memory_) + kMeasuredAt;
  for (const std::uint64_t number : std::bit_cast<Measured::Numbers>(measured))
    (next++)->store(number, std::memory_order_relaxed);
}

Measured UsagePage::measured() const {
  Measured::Numbers result{};
  const UsageNumber* next = numbers(*memory_) + kMeasuredAt;
  for (std::uint64_t& number : result) number = (next++)->load(std::memory_order_relaxed);
  return std::bit_cast<Measured>(result);
}

void UsagePage::write_queued(std::uint64_t commands) const {
  numbers(*memory_)[kQueuedAt].store(commands, std::memory_order_relaxed);
}

std::uint64_t UsagePage::queued() const {
  return numbers(*memory_)[kQueuedAt].load(std::memory_order_relaxed);
}

}  // namespace clique::daemon
