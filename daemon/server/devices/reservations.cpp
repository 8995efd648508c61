#include "daemon/server/devices/reservations.hpp"

#include <algorithm>

#include "protocol/messages/session.hpp"

namespace clique::daemon {

namespace {
/// The most devices that all programs of one client reserve.
constexpr std::size_t kMaxOfOne = 256;
}  // namespace

bool Reservations::add(const Holder& holder, ServedDevice device, bool exclusive, Clock::time_point now) {
  const auto until = now + std::chrono::seconds(protocol::kReservationSeconds);
  std::size_t of_this_client = 0;
  for (Entry& entry : entries_) {
    of_this_client += entry.holder.client == holder.client ? 1 : 0;
    if (entry.holder != holder || entry.device != device) continue;
    entry.exclusive = exclusive;
    entry.until = until;
    return true;
  }
  if (of_this_client >= kMaxOfOne) return false;
  entries_.push_back({holder, device, exclusive, until});
  return true;
}

void Reservations::remove(const Holder& holder) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.holder == holder; });
}

void Reservations::expire(Clock::time_point now) {
  std::erase_if(entries_, [now](const Entry& entry) { return now >= entry.until; });
}

std::uint32_t Reservations::count(ServedDevice device, const Holder& but) const {
  return static_cast<std::uint32_t>(std::count_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.device == device && entry.holder != but;
  }));
}

bool Reservations::any(std::uint32_t driver, bool exclusively, const Holder& but) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.device.driver == driver && entry.holder != but && (entry.exclusive || !exclusively);
  });
}

}  // namespace clique::daemon
