#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <sys/socket.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "cli/doctor/doctor.hpp"
#include "icd/remote/nodes/daemon_connection.hpp"
#include "icd/remote/nodes/deadline.hpp"
#include "icd/remote/nodes/resolve.hpp"
#include "icd/remote/nodes/trust.hpp"
#include "protocol/fd.hpp"
#include "protocol/printable.hpp"
#include "protocol/version.hpp"

namespace clique::cli::doctor {

namespace {

using protocol::printable;

/// The clocks of hosts may differ by this much: logs can be compared, and MUNGE accepts credentials.
constexpr double kGoodClockSeconds = 60;

/// What a connection to an address says about the network.
struct Route {
  std::string interface;
  int mtu = 0;
  double speed = 0;  ///< bytes per second; 0: not known
  bool loopback = false;
};

/// The number in a file of /sys; 0 if there is none.
long number_in(const std::string& path) {
  std::ifstream file(path);
  long number = 0;
  file >> number;
  return file ? number : 0;
}

/// The bytes of an address without the port.
std::string address_bytes(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    return {reinterpret_cast<const char*>(&v4->sin_addr), sizeof v4->sin_addr};
  }
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
  return {reinterpret_cast<const char*>(&v6->sin6_addr), sizeof v6->sin6_addr};
}

/// The name of the interface with the address; empty if there is none.
std::string interface_with(const sockaddr* address) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, ::freeifaddrs);
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next)
    if (each->ifa_addr != nullptr && each->ifa_addr->sa_family == address->sa_family &&
        address_bytes(each->ifa_addr) == address_bytes(address))
      return each->ifa_name;
  return {};
}

/// Looks at the way to a numeric address, without sending anything.
Route route_to(const std::string& address, std::uint16_t port) {
  std::string bare = address;
  if (bare.starts_with('[')) bare = bare.substr(1, bare.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = SOCK_DGRAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  Route route;
  if (::getaddrinfo(bare.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return route;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, ::freeaddrinfo);
  const Fd socket(::socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (!socket || ::connect(socket.get(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0)
    return route;
  const bool v6 = found->ai_family == AF_INET6;
  size = sizeof route.mtu;
  if (::getsockopt(socket.get(), v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_MTU : IP_MTU, &route.mtu, &size) !=
      0)
    route.mtu = 0;
  // A packet to this host's own address leaves through none of its interfaces.
  route.loopback = address_bytes(reinterpret_cast<const sockaddr*>(&own)) == address_bytes(found->ai_addr);
  if (route.loopback) return route;
  route.interface = interface_with(reinterpret_cast<const sockaddr*>(&own));
  constexpr double kBytesPerMegabit = 1e6 / 8;
  route.speed =
      static_cast<double>(number_in("/sys/class/net/" + route.interface + "/speed")) * kBytesPerMegabit;
  if (route.speed < 0) route.speed = 0;
  return route;
}

}  // namespace

/// Checks one node step by step. A step that fails ends it.
class NodeCheck {
 public:
  NodeCheck(icd::NodeAddress address, std::shared_ptr<const icd::Trust> trust,
            SteadyClock::time_point deadline, SteadyClock::duration patience)
      : trust_(std::move(trust)), deadline_(deadline), patience_(patience) {
    node_.address = std::move(address);
  }

  void run() {
    try {
      begin("resolving its name");
      const auto addresses = icd::resolve(node_.address.host, soon());
      std::string list;
      for (const std::string& address : addresses) list += (list.empty() ? "" : ", ") + address;
      add({Verdict::Good, "name", list});
      const std::string address = reachable(addresses);
      if (!address.empty() && ask(address)) add_route(route_to(address, node_.address.port));
    } catch (const std::exception& error) {
      add({Verdict::Bad, "name", printable(error.what())});
    }
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  /// Waits for the end, until a time at most. @returns what was found, if the check has ended
  std::optional<NodeFindings> ended_by(SteadyClock::time_point time) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, time, [this] { return ended_; })) return std::nullopt;
    return node_;
  }
  /// Waits for the end, until the deadline. @returns what is known then
  NodeFindings result() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_until(lock, deadline_, [this] { return ended_; }))
      node_.findings.push_back({Verdict::Bad, subject("answer"), "none in time; it was still " + step_,
                                "try again with a longer --timeout; the log of cliqued there may say why"});
    return node_;
  }

 private:
  std::string subject(const std::string& what) const {
    return "node " + printable(node_.address.text()) + ", " + what;
  }
  void add(Finding finding) {
    finding.subject = subject(finding.subject);
    const std::lock_guard lock(mutex_);
    node_.findings.push_back(std::move(finding));
  }
  void begin(std::string step) {
    end_step();
    const std::lock_guard lock(mutex_);
    step_ = std::move(step);
    step_begin_ = SteadyClock::now();
  }
  /// The step has succeeded.
  void end_step() {
    if (!step_.empty())
      for (const Finding& slow : slow_step("time", step_, SteadyClock::now() - step_begin_)) add(slow);
  }
  /// When a step must have had an answer.
  SteadyClock::time_point soon() const { return std::min(deadline_, SteadyClock::now() + patience_); }

  /// The first address at which something accepts connections; empty if none does.
  std::string reachable(const std::vector<std::string>& addresses) {
    begin("connecting");
    const auto deadline = soon();
    Finding worst;
    for (std::size_t i = 0; i < addresses.size(); ++i) {
      // An address that never answers must leave time for the others, and for the steps that follow.
      const auto until = SteadyClock::now() + icd::left_until(deadline) / (addresses.size() - i + 1);
      const std::string outcome = icd::diagnose(addresses[i], node_.address.port, until);
      if (outcome == "connection closed") {
        add({Verdict::Good, "port", addresses[i] + " accepts connections"});
        return addresses[i];
      }
      if (i > 0) continue;
      const std::string port = std::to_string(node_.address.port);
      worst = {Verdict::Bad, "port", addresses[i] + ": " + printable(outcome)};
      if (outcome == "connection refused")
        worst.remedy = "the host is up, but nothing listens at port " + port +
                       ": start cliqued there, and check its setting 'listen'";
      else if (outcome == "connection timed out")
        worst.remedy = "the host is down, or a firewall drops packets to port " + port + ": check both";
      else
        worst.remedy = "the network does not lead there: check the address, and this host's routes";
    }
    add(worst);
    return {};
  }

  /// Learns the key, and asks for the devices.
  bool ask(const std::string& address) {
    try {
      begin("proving its key");
      const auto key = icd::DaemonConnection(node_.address, address, *trust_).ask_for_key(soon());
      add({Verdict::Good, "key", "it has proven " + key.fingerprint()});
      begin("listing its devices");
      const auto before = std::chrono::system_clock::now();
      const protocol::Offer offer =
          icd::DaemonConnection(node_.address, address, *trust_).ask_for_devices(soon());
      const auto after = std::chrono::system_clock::now();
      end_step();
      add_offer(offer);
      add_clock(offer.time, before, after);
      return true;
    } catch (const icd::Unreachable& error) {
      add({Verdict::Bad, "admission", printable(error.what())});
      return false;
    }
  }

  void add_offer(const protocol::Offer& offer) {
    std::size_t count = 0;
    for (const protocol::Driver& driver : offer.drivers) count += driver.devices.size();
    if (count == 0) {
      add({Verdict::Bad, "devices", "it offers none to this client",
           "install an OpenCL driver there, and check its setting 'devices' and this client's line in "
           "authorized-clients"});
      return;
    }
    add({Verdict::Good, "admission",
         "it admits this client to " + std::to_string(count) + (count == 1 ? " device" : " devices") +
             ", and speaks version " + std::to_string(protocol::kVersion) + " of the protocol"});
    const std::lock_guard lock(mutex_);
    node_.name = offer.node;
  }

  void add_clock(std::int64_t theirs, std::chrono::system_clock::time_point before,
                 std::chrono::system_clock::time_point after) {
    using Seconds = std::chrono::duration<double>;
    const Seconds middle = (before.time_since_epoch() + after.time_since_epoch()) / 2;
    const double difference = static_cast<double>(theirs) / 1e9 - middle.count();
    const double uncertainty = Seconds(after - before).count() / 2;
    char text[128];
    std::snprintf(text, sizeof text, "%+.3f s from this host's, within %.3f s", difference, uncertainty);
    if (std::abs(difference) <= kGoodClockSeconds)
      add({Verdict::Good, "clock", text});
    else
      add({Verdict::Bad, "clock", text,
           "set both clocks, for instance by NTP: logs cannot be compared, and MUNGE refuses credentials"});
  }

  void add_route(const Route& route) {
    std::string text = route.loopback ? "it is on this host" : "through " + printable(route.interface);
    if (route.mtu > 0 && !route.loopback)
      text += ", packets of up to " + std::to_string(route.mtu) + " bytes";
    if (route.speed > 0) text += ", " + speed_text(route.speed);
    const bool known = route.loopback || !route.interface.empty();
    add({known ? Verdict::Good : Verdict::Open, "network", known ? text : "the way there is not known"});
    const std::lock_guard lock(mutex_);
    node_.interface = route.interface;
    node_.link_speed = route.speed;
  }

  const std::shared_ptr<const icd::Trust> trust_;
  const SteadyClock::time_point deadline_;
  const SteadyClock::duration patience_;
  SteadyClock::time_point step_begin_;
  std::mutex mutex_;
  std::condition_variable changed_;
  NodeFindings node_;
  std::string step_;
  bool ended_ = false;
};

NodeChecks::NodeChecks(const icd::NodeSettings& settings, SteadyClock::time_point deadline,
                       SteadyClock::duration patience) {
  if (settings.nodes.empty()) return;
  std::shared_ptr<const icd::Trust> trust;
  try {
    trust = std::make_shared<const icd::Trust>(settings.security);
  } catch (const icd::SettingError& error) {
    failed_.push_back({settings.nodes[0],
                       {},
                       {},
                       0,
                       {{Verdict::Bad, "nodes", "none can be used: " + printable(error.what())}}});
    return;
  }
  for (const icd::NodeAddress& node : settings.nodes) {
    checks_.push_back(std::make_shared<NodeCheck>(node, trust, deadline, patience));
    // Detached: name servers, and daemons whose drivers are starting, can take longer than the deadline.
    std::thread([check = checks_.back()] { check->run(); }).detach();
  }
}

std::vector<NodeFindings> NodeChecks::ended_by(SteadyClock::time_point time) const {
  std::vector<NodeFindings> ended;
  for (const auto& check : checks_)
    if (auto node = check->ended_by(time)) ended.push_back(std::move(*node));
  return ended;
}

std::vector<NodeFindings> NodeChecks::results() const {
  std::vector<NodeFindings> results = failed_;
  for (const auto& check : checks_) results.push_back(check->result());
  return results;
}

std::string speed_text(double speed) {
  constexpr double kGiga = 1e9;
  constexpr double kMega = 1e6;
  constexpr double kKilo = 1e3;
  char text[32];
  // From where two digits say something.
  if (speed >= kGiga / 10)
    std::snprintf(text, sizeof text, "%.2f GB/s", speed / kGiga);
  else if (speed >= kMega / 10)
    std::snprintf(text, sizeof text, "%.2f MB/s", speed / kMega);
  else
    std::snprintf(text, sizeof text, "%.2f kB/s", speed / kKilo);
  return text;
}

}  // namespace clique::cli::doctor
