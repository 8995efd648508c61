#include "icd/remote/nodes/selection.hpp"

#include <CL/cl_ext.h>
#include <sys/random.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "icd/common/device_choice.hpp"
#include "icd/remote/nodes/resolve.hpp"
#include "icd/remote/threads.hpp"
#include "protocol/properties.hpp"

namespace clique::icd {

namespace {

/// A device, as its node counts it.
struct DevicePlace {
  std::size_t node;
  std::uint32_t driver;  ///< Driver::id
  std::uint32_t device;
};

/// A load that sorts behind all others: other sessions keep the device, or its node does not answer.
constexpr std::uint64_t kUnusable = std::numeric_limits<std::uint64_t>::max();
/// Attempts to reserve devices. Each that fails means that another program has got one.
constexpr int kAttemptsToReserve = 100;

/// A session counts like a GPU that computes all the time, or whose memory is full.
std::uint64_t load_of(const protocol::DeviceLoad& load) {
  return load.taken ? kUnusable : std::uint64_t{100} * load.users + load.busy;
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  while (number == 0)
    if (::getrandom(&number, sizeof number, 0) != sizeof number) return 1;
  return number;
}

/// Knows the load of devices, and reserves them.
class LoadTable {
 public:
  LoadTable(std::span<const std::unique_ptr<Node>> nodes, const std::vector<DevicePlace>& places,
            bool exclusive)
      : nodes_(nodes), places_(places), exclusive_(exclusive), loads_(places.size()), users_(places.size()) {
    std::map<std::size_t, std::vector<std::size_t>> all;
    for (std::size_t i = 0; i < nodes.size(); ++i) all[i] = {};
    ask(all);
  }

  /// Sorts positions by the load of their devices; equal ones stay as they are.
  void sort(std::vector<std::size_t>& positions) const {
    std::stable_sort(positions.begin(), positions.end(),
                     [this](std::size_t one, std::size_t other) { return loads_[one] < loads_[other]; });
  }

  /// Puts the least loaded `count` devices of the sorted list in front, each reserved if possible.
  void reserve(std::vector<std::size_t>& positions, std::size_t count) {
    std::size_t held = 0;
    for (int attempt = 0; held < count && attempt < kAttemptsToReserve; ++attempt) {
      std::map<std::size_t, std::vector<std::size_t>> wanted;
      for (std::size_t i = held; i < count; ++i)
        if (nodes_[places_[positions[i]].node]->knows_load() && loads_[positions[i]] != kUnusable)
          wanted[places_[positions[i]].node].push_back(positions[i]);
      if (wanted.empty()) return;
      const std::set<std::size_t> reserved = ask(wanted);
      const auto first = positions.begin() + static_cast<std::ptrdiff_t>(held);
      const auto rest = std::stable_partition(
          first, positions.end(), [&](std::size_t position) { return reserved.contains(position); });
      held += static_cast<std::size_t>(rest - first);
      std::stable_sort(rest, positions.end(),
                       [this](std::size_t one, std::size_t other) { return loads_[one] < loads_[other]; });
    }
  }

  std::uint64_t reservation() const { return reservation_; }

 private:
  /// Asks nodes for the loads of all their devices, and reserves the devices at these positions. @returns the
  /// positions of those that are reserved
  std::set<std::size_t> ask(const std::map<std::size_t, std::vector<std::size_t>>& wanted) {
    const std::vector<std::pair<std::size_t, std::vector<std::size_t>>> asked(wanted.begin(), wanted.end());
    std::vector<std::optional<protocol::Loads>> answers(asked.size());
    in_parallel(asked.size(), [&](std::size_t i) {
      const Node& node = *nodes_[asked[i].first];
      if (!node.knows_load()) return;
      protocol::Choice choice{{}, exclusive_, reservation_};
      for (const std::size_t position : asked[i].second)
        choice.devices.push_back({places_[position].driver, places_[position].device, users_[position]});
      try {
        answers[i] = node.reserve(choice);
      } catch (const Unreachable&) {
        // Its devices are the last ones; a session with them reports why.
      }
    });
    std::set<std::size_t> reserved;
    for (std::size_t i = 0; i < asked.size(); ++i)
      if (nodes_[asked[i].first]->knows_load()) note(asked[i].first, answers[i], reserved);
    return reserved;
  }

  void note(std::size_t node, const std::optional<protocol::Loads>& answer, std::set<std::size_t>& reserved) {
    for (std::size_t position = 0; position < places_.size(); ++position) {
      const DevicePlace& place = places_[position];
      if (place.node != node) continue;
      loads_[position] = kUnusable;
      if (!answer) continue;
      for (const protocol::DeviceLoad& load : answer->devices) {
        if (load.driver != place.driver || load.device != place.device) continue;
        loads_[position] = load_of(load);
        users_[position] = load.users;
        if (load.reserved) reserved.insert(position);
      }
    }
  }

  const std::span<const std::unique_ptr<Node>> nodes_;
  const std::vector<DevicePlace>& places_;
  const bool exclusive_;
  const std::uint64_t reservation_ = random_number();
  std::vector<std::uint64_t> loads_;
  std::vector<std::uint32_t> users_;
};

/// All devices, and the names by which they can be chosen.
std::vector<DevicePlace> all_places(std::span<const std::unique_ptr<Node>> nodes,
                                    std::vector<DeviceNames>& names) {
  std::vector<DevicePlace> places;
  for (std::size_t node = 0; node < nodes.size(); ++node)
    for (const protocol::Driver& driver : nodes[node]->drivers())
      for (std::uint32_t i = 0; i < driver.devices.size(); ++i) {
        const std::vector<protocol::Property>& properties = driver.devices[i].properties;
        places.push_back({node, driver.id, i});
        std::string name = protocol::property_text(properties, CL_DEVICE_NAME);
        if (nodes[node]->use().names_with_node) name += " @ " + nodes[node]->name();
        names.push_back({std::move(name), nodes[node]->name(),
                         protocol::uuid_text(protocol::property_bytes(properties, CL_DEVICE_UUID_KHR))});
      }
  return places;
}

/// Has each node open sessions for the devices at these positions only.
void tell_nodes(std::span<const std::unique_ptr<Node>> nodes, const std::vector<DevicePlace>& places,
                const std::vector<std::size_t>& positions, bool exclusive, std::uint64_t reservation) {
  std::map<std::size_t, protocol::Choice> choices;
  for (const std::size_t position : positions) {
    protocol::Choice& choice = choices[places[position].node];
    choice.devices.push_back({places[position].driver, places[position].device});
    choice.exclusive = exclusive;
    choice.reservation = reservation;
  }
  for (auto& [node, choice] : choices) nodes[node]->choose(std::move(choice));
}

std::string unmatched_text(const std::string& entry, std::size_t devices) {
  return "CLIQUE_DEVICES: none of the " + std::to_string(devices) + " devices matches '" + entry + "'" +
         (entry.starts_with("idle") ? "; write idle for the least loaded device, or idle:N for N of them"
                                    : "");
}

}  // namespace

Selection select_devices(std::span<const std::unique_ptr<Node>> nodes, const std::string& choice,
                         bool claim) {
  std::vector<DeviceNames> names;
  const std::vector<DevicePlace> places = all_places(nodes, names);
  Selection result;
  std::optional<std::size_t> idle;
  if (choice.empty()) {
    for (std::size_t i = 0; i < places.size(); ++i) result.positions.push_back(i);
  } else {
    DeviceChoice made = choose_devices(names, choice);
    result.positions = std::move(made.positions);
    idle = made.idle;
    for (const std::string& entry : made.unmatched)
      result.problems.push_back(unmatched_text(entry, places.size()));
  }
  const auto any = [&](bool DeviceUse::* use) {
    return std::any_of(nodes.begin(), nodes.end(), [use](const auto& node) { return node->use().*use; });
  };
  const bool exclusive = any(&DeviceUse::exclusive);
  std::uint64_t reservation = 0;
  if ((idle || any(&DeviceUse::idle_first)) && !result.positions.empty()) {
    LoadTable loads(nodes, places, exclusive);
    loads.sort(result.positions);
    const std::size_t count = std::min(idle.value_or(1), result.positions.size());
    if (claim) {
      loads.reserve(result.positions, count);
      reservation = loads.reservation();
    }
    if (idle) result.positions.resize(count);
  }
  if (claim && (!choice.empty() || exclusive))
    tell_nodes(nodes, places, result.positions, exclusive, reservation);
  return result;
}

}  // namespace clique::icd
