// Which sessions use which devices: for clients that want idle devices, or devices of their own.
#include <CL/cl_ext.h>

#include <algorithm>
#include <set>

#include "daemon/server/devices/descriptions.hpp"
#include "daemon/server/server.hpp"
#include "protocol/properties.hpp"
#include "protocol/version.hpp"

namespace clique::daemon {

namespace {

/// How long after a session's begin its workers may not have said yet that it uses their devices.
constexpr std::chrono::seconds kUsageIsLate{2};

/// DeviceLoad::busy of a GPU.
std::uint32_t busy(const GpuReading& reading) {
  constexpr std::uint64_t kPercent = 100;
  std::uint64_t result = reading.utilisation == protocol::kUnknown ? 0 : reading.utilisation;
  if (reading.memory_total != protocol::kUnknown && reading.memory_free <= reading.memory_total &&
      reading.memory_total != 0)
    result += kPercent - kPercent * reading.memory_free / reading.memory_total;
  return static_cast<std::uint32_t>(std::min(result, 2 * kPercent));
}

}  // namespace

bool Server::Wanted::uses(std::uint32_t driver) const {
  return devices.empty() || std::any_of(devices.begin(), devices.end(), [driver](const ServedDevice& device) {
           return device.driver == driver;
         });
}

std::optional<ServedDevice> Server::served(const Permit& permit, const protocol::ChosenDevice& device) const {
  if (device.driver >= devices_.served.size()) return std::nullopt;
  if (permit.devices) {
    const auto& places = permit.devices->at(device.driver);
    if (device.device >= places.size()) return std::nullopt;
    return ServedDevice{device.driver, places[device.device]};
  }
  if (device.device >= devices_.served[device.driver].devices.size()) return std::nullopt;
  return ServedDevice{device.driver, device.device};
}

std::variant<Server::Wanted, std::string> Server::wanted(const std::optional<protocol::Choice>& choice,
                                                         const Permit& permit) const {
  Wanted result;
  if (!choice) return result;
  result.exclusive = choice->exclusive;
  result.reservation = choice->reservation;
  result.memory = choice->memory;
  for (const protocol::ChosenDevice& chosen : choice->devices) {
    const auto device = served(permit, chosen);
    if (!device)
      return fmt::format(
          "node {} has no device {} of driver {} for {}; it may have been restarted with other "
          "devices since the program has listed them, so start the program again",
          settings_.name, chosen.device, chosen.driver, permit.client);
    result.devices.push_back(*device);
  }
  return result;
}

std::uint32_t Server::users(ServedDevice device, const Reservations::Holder& but) const {
  const auto seems_used = [](const Taken& taken) {
    const protocol::Usage usage = taken.usage.read();
    return usage.memory != 0 || usage.kernels != 0 || Clock::now() - taken.since < kUsageIsLate;
  };
  std::set<SessionId> sessions;
  for (const Taken& taken : taken_) {
    if (!taken.in_use() || taken.driver != device.driver) continue;
    const auto& chosen = taken.chosen;
    if (chosen.empty() ? seems_used(taken)
                       : std::find(chosen.begin(), chosen.end(), device.place) != chosen.end())
      sessions.insert(taken.session);
  }
  return static_cast<std::uint32_t>(sessions.size()) + reservations_.count(device, but);
}

bool Server::taken_exclusively(std::uint32_t driver) const {
  return std::any_of(taken_.begin(), taken_.end(), [driver](const Taken& taken) {
    return taken.in_use() && taken.exclusive && taken.driver == driver;
  });
}

std::string Server::hindrance(std::uint32_t driver, const Permit& permit, const Wanted& wanted) const {
  const auto reason = [&](const std::string& what) {
    std::string names;
    for (const protocol::Driver& described : drivers_)
      if (described.id == driver)
        for (const protocol::DeviceDescription& device : permitted(permit, driver, described.devices))
          names += (names.empty() ? "" : ", ") + described_name(device);
    return fmt::format("{} of node {} {}", names.empty() ? devices_.served[driver].name : names,
                       settings_.name, what);
  };
  for (const Taken& taken : taken_) {
    if (!taken.in_use() || taken.driver != driver) continue;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - taken.since).count();
    if (taken.exclusive)
      return reason(
          fmt::format("is taken exclusively by session {} for {} s now; try again when that has "
                      "ended, or choose another device",
                      taken.session, seconds));
    if (wanted.exclusive)
      return reason(
          fmt::format("is in use by session {} for {} s now, so it cannot be taken exclusively; try "
                      "again when that has ended, or choose another device",
                      taken.session, seconds));
  }
  if (!reservations_.any(driver, !wanted.exclusive, {permit.client, wanted.reservation})) return {};
  return reason(
      fmt::format("is reserved for a program that starts; try again in {} s, or choose another device",
                  protocol::kReservationSeconds));
}

std::string Server::conflict_of(const Waiting& client) const {
  std::string first;
  for (std::uint32_t driver = 0; driver < devices_.served.size(); ++driver) {
    if (!client.permit.may_use(driver) || !client.wanted.uses(driver)) continue;
    std::string why = hindrance(driver, client.permit, client.wanted);
    // Other sessions keep their devices from a client only if all that it could have are theirs.
    if (why.empty() && !client.wanted.exclusive) return {};
    if (first.empty()) first = std::move(why);
  }
  return first;
}

protocol::Loads Server::loads(const Permit& permit, const Wanted& wanted) const {
  protocol::Loads result{protocol::kVersion, {}};
  const GpuMonitor::Readings readings = gpus_.readings();
  for (std::uint32_t driver = 0; driver < devices_.served.size(); ++driver) {
    const bool taken = !hindrance(driver, permit, wanted).empty();
    // Nothing while no worker of the driver has been ready yet.
    const auto described = std::find_if(drivers_.begin(), drivers_.end(),
                                        [driver](const protocol::Driver& one) { return one.id == driver; });
    for (std::uint32_t i = 0; const auto device = served(permit, {driver, i}); ++i) {
      protocol::DeviceLoad& load = result.devices.emplace_back();
      load.driver = driver;
      load.device = i;
      load.users = users(*device, {permit.client, wanted.reservation});
      load.taken = taken;
      if (described == drivers_.end() || device->place >= described->devices.size()) continue;
      const auto& properties = described->devices.at(device->place).properties;
      const auto reading =
          readings.find(protocol::uuid_text(protocol::property_bytes(properties, CL_DEVICE_UUID_KHR)));
      if (reading != readings.end()) load.busy = busy(reading->second);
    }
  }
  return result;
}

void Server::reserve(Greeting&& greeting, Permit&& permit) {
  auto choice = wanted(greeting.choice, permit);
  if (const auto* reason = std::get_if<std::string>(&choice)) {
    refuse(greeting.guest, fmt::format("{} at {}", greeting.hello.client, greeting.visitor.address),
           Refusal::Request, *reason);
    return;
  }
  auto& wants = std::get<Wanted>(choice);
  if (wants.devices.empty()) {
    look(std::move(greeting), std::move(permit), std::move(wants));
    return;
  }
  const auto now = Clock::now();
  reservations_.expire(now);
  const Reservations::Holder holder{permit.client, wants.reservation};
  std::set<ServedDevice> reserved;
  for (std::size_t i = 0; i < wants.devices.size(); ++i) {
    const ServedDevice device = wants.devices[i];
    if (wants.reservation != 0 && users(device, holder) <= greeting.choice->devices[i].users &&
        hindrance(device.driver, permit, wants).empty() &&
        reservations_.add(holder, device, wants.exclusive, now))
      reserved.insert(device);
  }
  protocol::Loads answer = loads(permit, wants);
  for (protocol::DeviceLoad& load : answer.devices)
    if (const auto device = served(permit, {load.driver, load.device}))
      load.reserved = reserved.contains(*device);
  spdlog::debug("{} at {} has reserved {} devices", greeting.hello.client, greeting.visitor.address,
                reserved.size());
  gate_.answer(greeting.guest, answer);
  gate_.let_go(greeting.guest);
}

}  // namespace clique::daemon
