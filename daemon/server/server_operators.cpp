// What the server does for people who look at the node, and steer it.
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <algorithm>

#include "daemon/common/vendor_ids.hpp"
#include "daemon/server/devices/descriptions.hpp"
#include "daemon/server/server.hpp"
#include "protocol/printable.hpp"
#include "protocol/properties.hpp"
#include "protocol/version.hpp"

namespace clique::daemon {

namespace {

using namespace std::chrono_literals;

/// How long a client waits for the driver of GPUs, and for disks, to tell their state.
constexpr auto kGpuPatience = 300ms;
/// Clients that may wait for it.
constexpr std::size_t kMaxLooking = 256;
/// How long a worker that is told to end its session may take before it is killed.
constexpr auto kStopPatience = 2s;
/// The longest text of others in a Status.
constexpr std::size_t kLongestListedText = 320;

/// Whether a session is the client's own.
bool owns(const Permit& permit, const Visitor& visitor, const SessionOwner& owner) {
  // Where nobody knows who is who, a key is what only one client has.
  if (permit.shared || owner.shared) return permit.shared == owner.shared && visitor.key == owner.visitor.key;
  return permit.client == owner.client;
}

/// A client's name without the kind in front.
std::string short_name(const std::string& client) {
  constexpr std::string_view kUser = "user ";
  return client.starts_with(kUser) ? client.substr(kUser.size()) : client;
}

std::string reason_of(const protocol::Steer& steer) {
  return protocol::printable(steer.reason, protocol::kLongestReason);
}

std::string name_and_place(const Permit& permit, const Visitor& visitor) {
  return fmt::format("{} at {}", permit.client, visitor.address);
}

constexpr const char* kAdministrators =
    "those are root and the user of cliqued on its host, and clients whose lines in its authorized-clients "
    "have the option 'admin'";

std::uint64_t milliseconds_since(std::chrono::steady_clock::time_point begin) {
  using std::chrono::milliseconds;
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin).count());
}

protocol::DeviceStatus device_status(const SelectedPlatform& platform) {
  protocol::DeviceStatus status;
  status.backend = platform.kind == PlatformKind::Cuda ? "cuda" : "opencl";
  status.driver = platform.name;
  return status;
}

/// The session without what its running workers have counted.
protocol::SessionStatus session_status(SessionId session, const SessionLog::Entry& entry) {
  protocol::SessionStatus status;
  status.id = session;
  status.client = entry.owner.client.substr(0, kLongestListedText);
  status.user = entry.user;
  status.address = entry.owner.visitor.address;
  status.program = entry.owner.program.substr(0, kLongestListedText);
  status.age_ms = milliseconds_since(entry.since);
  status.devices = entry.owner.devices;
  status.share = entry.owner.share;
  status.usage = entry.sum.usage;
  // The memory of workers that have ended is free again.
  status.usage.memory = 0;
  return status;
}

}  // namespace

void Server::operate(Greeting&& greeting, Permit&& permit) {
  const std::string client = fmt::format("{} at {}", greeting.hello.client, greeting.visitor.address);
  if (greeting.hello.wish == protocol::Wish::Status) {
    look(std::move(greeting), std::move(permit), std::nullopt);
    return;
  }
  if (greeting.hello.wish == protocol::Wish::Reach) {
    const std::string why = reach_desk_.reach(greeting.guest, permit.client, std::move(greeting.reach));
    if (!why.empty()) refuse(greeting.guest, client, Refusal::Busy, why);
    return;
  }
  const std::string why =
      greeting.steer.act == protocol::Steer::Act::EndSession ? end_session(greeting, permit)
      : greeting.steer.act == protocol::Steer::Act::Drain
          ? begin_drain(greeting, permit)
          : fmt::format("node {} does not know the act {}; install the same version of Clique on both",
                        settings_.name, static_cast<unsigned>(greeting.steer.act));
  if (!why.empty()) {
    // Only the text tells whether the client may not, or there is no such session.
    refuse(greeting.guest, client, Refusal::Request, why);
    return;
  }
  gate_.answer(greeting.guest, protocol::Steered{protocol::kVersion, settings_.name});
  gate_.let_go(greeting.guest);
}

void Server::tell_reached() {
  for (const ReachDesk::Answer& answer : reach_desk_.done()) {
    gate_.answer(answer.guest, answer.reached);
    gate_.let_go(answer.guest);
  }
}

void Server::look(Greeting&& greeting, Permit&& permit, std::optional<Wanted> loads) {
  if (looking_.size() >= kMaxLooking) {
    refuse(greeting.guest, fmt::format("{} at {}", greeting.hello.client, greeting.visitor.address),
           Refusal::Busy,
           fmt::format("{} clients look at node {} already, which is its limit; try again later",
                       looking_.size(), settings_.name));
    return;
  }
  gpus_.ask(gpus());
  health_.ask();
  looking_.push_back({greeting.guest, std::move(permit), std::move(greeting.visitor),
                      Clock::now() + kGpuPatience, std::move(loads)});
}

void Server::answer_looking() {
  if (looking_.empty()) return;
  const bool asking = gpus_.asking() || health_.asking();
  std::erase_if(looking_, [&](const Looking& one) {
    if (asking && Clock::now() < one.until) return false;
    if (one.guest == 0) {
      log_status();
      return true;
    }
    if (one.loads)
      gate_.answer(one.guest, loads(one.permit, *one.loads));
    else
      gate_.answer(one.guest, status(one.permit, one.visitor));
    gate_.let_go(one.guest);
    return true;
  });
}

void Server::log_state() {
  gpus_.ask(gpus());
  looking_.push_back({0, {}, {}, Clock::now() + kGpuPatience});
}

void Server::log_status() const {
  const Permit all{.client = "", .admin = true};
  const protocol::Status state = status(all, {});
  using Value = decltype(LogField::value);
  const auto known = [](std::uint64_t number) {
    return number == protocol::kUnknown ? Value() : Value(number);
  };
  LogFields node{{"node", state.node},
                 {"version", state.release},
                 {"uptime", static_cast<double>(state.uptime_ms) / 1000},
                 {"state", std::string(state.draining ? "draining" : "up")},
                 {"sessions", state.sessions}};
  node.push_back({"session-limit", state.session_limit == 0 ? Value() : Value(state.session_limit)});
  node.push_back({"encryption", std::string(to_text(state.encryption))});
  log_fields(spdlog::level::info, "state of the node", {}, node);
  for (const protocol::DeviceStatus& device : state.devices)
    log_fields(spdlog::level::info, "state of a device", {},
               {{"device", device.name},
                {"backend", device.backend},
                {"driver", device.driver},
                {"driver-version", device.driver_version},
                {"memory-total", known(device.memory_total)},
                {"memory-free", known(device.memory_free)},
                {"utilisation", known(device.utilisation)}});
  std::map<SessionId, SessionLinks> links;
  for (const Taken& taken : taken_)
    if (taken.in_use()) add(links[taken.session], taken.usage.links());
  for (const auto& [session, usage] : running_usage()) {
    const auto entry = session_log_.sessions().find(session);
    if (entry == session_log_.sessions().end()) continue;
    protocol::Usage sum = session_status(session, entry->second).usage;
    add(sum, usage);
    add(links[session], entry->second.sum.links);
    LogFields fields = usage_fields(entry->second, sum);
    for (LogField& field : link_fields(links[session])) fields.push_back(std::move(field));
    fields.push_back({"memory", sum.memory});
    for (LogField& field : owner_fields(entry->second)) fields.push_back(std::move(field));
    log_fields(spdlog::level::info, fmt::format("state of session {}", session), {{"session", session}},
               fields);
  }
}

std::string Server::end_session(const Greeting& greeting, const Permit& permit) {
  const SessionId session = greeting.steer.session;
  const auto& entries = session_log_.sessions();
  const auto entry = entries.find(session);
  const bool own = entry != entries.end() && owns(permit, greeting.visitor, entry->second.owner);
  if (!own && !permit.admin)
    // Whether there is such a session is nobody else's business.
    return fmt::format(
        "{} has no session {} on node {}, and may not end those of others; ask an administrator: {}",
        permit.client, session, settings_.name, kAdministrators);
  if (entry == entries.end())
    return fmt::format("node {} has no session {}; 'clique top --once' lists its sessions", settings_.name,
                       session);
  const std::string reason = reason_of(greeting.steer);
  const std::string text = fmt::format("ended by {} {}{}{}", own ? "its owner" : "administrator",
                                       short_name(permit.client), reason.empty() ? "" : ": ", reason);
  spdlog::info("session {} of {} is being {} ({})", session, entry->second.owner.client, text,
               name_and_place(permit, greeting.visitor));
  session_log_.ends(session, text);
  for (Taken& taken : taken_) {
    // A worker that does not read its channel must not fill it.
    if (taken.session != session || taken.kill_at != Clock::time_point()) continue;
    taken.process.control().send(Notice{Notice::Kind::Stop, text});
    taken.kill_at = Clock::now() + kStopPatience;
  }
  return {};
}

std::string Server::begin_drain(const Greeting& greeting, const Permit& permit) {
  if (!permit.admin)
    return fmt::format("{} may not drain node {}; ask an administrator: {}", permit.client, settings_.name,
                       kAdministrators);
  if (draining_)
    return fmt::format("node {} is draining already{}; wait: it stops when its sessions have ended",
                       settings_.name, drain_cause_.empty() ? "" : ", " + drain_cause_);
  const std::string reason = reason_of(greeting.steer);
  drain_cause_ = fmt::format("at the request of administrator {}{}", short_name(permit.client),
                             reason.empty() ? "" : " (" + protocol::in_quotes(reason) + ")");
  spdlog::info("{} has asked this node to drain{}{}", name_and_place(permit, greeting.visitor),
               reason.empty() ? "" : ": ", reason);
  return {};
}

protocol::Status Server::status(const Permit& permit, const Visitor& visitor) const {
  protocol::Status status;
  status.version = protocol::kVersion;
  status.node = settings_.name;
  status.release = CLIQUE_VERSION;
  status.uptime_ms = milliseconds_since(started_);
  status.draining = draining_;
  status.cause = drain_cause_;
  status.sessions = sessions();
  status.session_limit = settings_.sessions;
  status.encryption = settings_.encryption;
  status.administrator = permit.admin;
  status.advertise = advertised_to(visitor);
  status.health = health_.reading();
  status.devices = devices_for(permit);
  const auto running = running_usage();
  const auto loads = session_loads();
  for (const auto& [session, entry] : session_log_.sessions()) {
    const bool own = owns(permit, visitor, entry.owner);
    const auto usage = running.find(session);
    if ((!own && !permit.admin) || usage == running.end()) continue;
    if (status.listed.size() == protocol::kMostListedSessions) break;
    protocol::SessionStatus& listed = status.listed.emplace_back(session_status(session, entry));
    listed.own = own;
    if (const auto load = loads.find(session); load != loads.end()) listed.load = load->second;
    add(listed.usage, usage->second);
  }
  return status;
}

std::vector<protocol::DeviceStatus> Server::devices_for(const Permit& permit) const {
  std::vector<protocol::DeviceStatus> result;
  const GpuMonitor::Readings readings = gpus_.readings();
  for (std::uint32_t driver = 0; driver < devices_.served.size(); ++driver) {
    const SelectedPlatform& platform = devices_.served[driver];
    const auto described = std::find_if(drivers_.begin(), drivers_.end(),
                                        [driver](const protocol::Driver& one) { return one.id == driver; });
    if (described == drivers_.end()) {
      // No worker of this driver has been ready yet.
      const auto listed =
          std::find_if(devices_.all.begin(), devices_.all.end(), [&platform](const ListedPlatform& one) {
            return one.kind == platform.kind && one.index == platform.index;
          });
      for (std::uint32_t position = 0; position < platform.devices.size(); ++position) {
        const auto* const subset = permit.devices ? &permit.devices->at(driver) : nullptr;
        if (subset != nullptr && std::find(subset->begin(), subset->end(), position) == subset->end())
          continue;
        protocol::DeviceStatus status = device_status(platform);
        if (listed != devices_.all.end()) {
          const ListedDevice& device = listed->devices.at(platform.devices[position]);
          status.name = device.name;
          status.type = device.type;
        }
        result.push_back(std::move(status));
      }
      continue;
    }
    for (const protocol::DeviceDescription& device : permitted(permit, driver, described->devices)) {
      protocol::DeviceStatus status = device_status(platform);
      status.name = described_name(device);
      status.type = number_property(device, CL_DEVICE_TYPE).value_or(0);
      status.driver_version = protocol::property_text(device.properties, CL_DRIVER_VERSION);
      status.memory_total = number_property(device, CL_DEVICE_GLOBAL_MEM_SIZE).value_or(protocol::kUnknown);
      status.pci =
          protocol::pci_text(protocol::property_bytes(device.properties, CL_DEVICE_PCI_BUS_INFO_KHR));
      const auto reading =
          readings.find(protocol::uuid_text(protocol::property_bytes(device.properties, CL_DEVICE_UUID_KHR)));
      if (reading != readings.end()) {
        // NVML counts what the driver itself needs as well, so its total is that of the free memory.
        if (reading->second.memory_total != protocol::kUnknown)
          status.memory_total = reading->second.memory_total;
        status.memory_free = reading->second.memory_free;
        status.utilisation = reading->second.utilisation;
      }
      result.push_back(std::move(status));
    }
  }
  return result;
}

std::map<SessionId, std::uint64_t> Server::session_loads() const {
  std::map<SessionId, std::uint64_t> result;
  const GpuMonitor::Readings readings = gpus_.readings();
  for (const Taken& taken : taken_) {
    if (!taken.in_use()) continue;
    for (const protocol::Driver& driver : drivers_) {
      if (driver.id != taken.driver) continue;
      for (const protocol::DeviceDescription& device : driver.devices) {
        const auto reading = readings.find(
            protocol::uuid_text(protocol::property_bytes(device.properties, CL_DEVICE_UUID_KHR)));
        if (reading == readings.end() || !reading->second.processes) continue;
        const auto& processes = *reading->second.processes;
        const auto own = processes.find(taken.process.pid());
        // If there are others only, the driver may count processes in another way, as in some containers.
        if (own == processes.end() && !processes.empty()) continue;
        std::uint64_t& load = result.emplace(taken.session, 0).first->second;
        if (own != processes.end()) load = std::max(load, own->second);
      }
    }
  }
  return result;
}

std::map<SessionId, protocol::Usage> Server::running_usage() const {
  std::map<SessionId, protocol::Usage> result;
  for (const Taken& taken : taken_)
    if (taken.session != 0 && taken.closed == Clock::time_point())
      add(result[taken.session], taken.usage.read());
  return result;
}

std::vector<std::string> Server::gpus() const {
  std::vector<std::string> result;
  for (const protocol::Driver& driver : drivers_)
    for (const protocol::DeviceDescription& device : driver.devices) {
      std::string uuid = protocol::uuid_text(protocol::property_bytes(device.properties, CL_DEVICE_UUID_KHR));
      if (!uuid.empty() && number_property(device, CL_DEVICE_VENDOR_ID) == kNvidiaVendor)
        result.push_back(std::move(uuid));
    }
  return result;
}

}  // namespace clique::daemon
