// What the server tells Prometheus.
#include <CL/cl_ext.h>

#include <algorithm>

#include "daemon/common/vendor_ids.hpp"
#include "daemon/server/devices/descriptions.hpp"
#include "daemon/server/server.hpp"
#include "protocol/properties.hpp"

namespace clique::daemon {

namespace {

/// How old the figures may become.
constexpr std::chrono::seconds kMetricsInterval{1};
/// All clients of whom nobody knows who they are: their number has no limit.
constexpr const char* kAnybody = "anybody";

}  // namespace

void Server::count_usage(Taken& taken) {
  if (!metrics_ || taken.session == 0) return;
  const protocol::Usage now = taken.record ? taken.record->usage : taken.usage.read();
  protocol::Usage more;
  // A kernel that has taken the worker over may write any numbers, smaller ones included.
  const auto note = [&](std::uint64_t protocol::Usage::* number) {
    if (now.*number <= taken.counted.*number) return;
    more.*number = now.*number - taken.counted.*number;
    taken.counted.*number = now.*number;
  };
  for (const auto number :
       {&protocol::Usage::network_in, &protocol::Usage::network_out, &protocol::Usage::shared_in,
        &protocol::Usage::shared_out, &protocol::Usage::peers_in, &protocol::Usage::peers_out,
        &protocol::Usage::kernels})
    note(number);
  add(counts_.usage, more);
  add_new(counts_.measured, taken.measured, taken.usage.measured());
}

std::vector<GpuState> Server::gpu_states() const {
  std::vector<GpuState> result;
  const GpuMonitor::Readings readings = gpus_.readings();
  for (const protocol::Driver& driver : drivers_) {
    const SelectedPlatform& platform = devices_.served.at(driver.id);
    for (std::size_t i = 0; i < driver.devices.size(); ++i) {
      const protocol::DeviceDescription& device = driver.devices[i];
      const auto reading =
          readings.find(protocol::uuid_text(protocol::property_bytes(device.properties, CL_DEVICE_UUID_KHR)));
      if (reading == readings.end() || number_property(device, CL_DEVICE_VENDOR_ID) != kNvidiaVendor)
        continue;
      const std::uint64_t index =
          platform.kind == PlatformKind::Cuda ? platform.index : platform.devices.at(i);
      result.push_back({index, reading->first, reading->second.utilisation, reading->second.memory_total,
                        reading->second.memory_free});
    }
  }
  return result;
}

std::vector<ClientUsage> Server::client_usage() const {
  const auto running = running_usage();
  std::map<std::string, ClientUsage> clients;
  for (const auto& [session, entry] : session_log_.sessions()) {
    const auto usage = running.find(session);
    if (usage == running.end()) continue;
    const std::string name = entry.owner.shared ? kAnybody : entry.owner.client;
    ClientUsage& client = clients[name];
    client.client = name;
    ++client.sessions;
    client.memory += usage->second.memory;
  }
  std::vector<ClientUsage> result;
  result.reserve(clients.size());
  for (auto& [name, client] : clients) result.push_back(std::move(client));
  return bounded(std::move(result));
}

void Server::publish_metrics() {
  const auto now = Clock::now();
  if (!metrics_ || now < next_metrics_) return;
  next_metrics_ = now + kMetricsInterval;
  gpus_.ask(gpus());
  health_.ask();
  std::uint64_t queued = 0;
  for (Taken& taken : taken_) {
    count_usage(taken);
    if (taken.in_use()) add(queued, taken.usage.queued());
  }
  metrics_->publish({.node = settings_.name,
                     .host = host_name(),
                     .compiler_release = health_.reading().compiler_release,
                     .draining = draining_,
                     .session_limit = settings_.sessions,
                     .waiting = waiting_.size(),
                     .sessions = sessions(),
                     .queued = queued,
                     .counts = counts_,
                     .clients = client_usage(),
                     .gpus = gpu_states()});
}

}  // namespace clique::daemon
