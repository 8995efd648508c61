// The parts of `clique doctor`: what it checks, on this host, at each node, and through OpenCL.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "icd/common/settings.hpp"

namespace clique::cli::doctor {

using SteadyClock = std::chrono::steady_clock;

enum class Verdict : std::uint8_t {
  Good,
  Bad,
  Open  ///< it could not be checked, or does not matter here
};

/// The outcome of a check. The texts are printable.
struct Finding {
  Verdict verdict = Verdict::Good;
  std::string subject;      ///< what was checked, and where
  std::string text;         ///< what was found; if it is bad, the cause
  std::string remedy = {};  ///< what to do; empty: nothing, or `text` says it
};
using Findings = std::vector<Finding>;

/// What a step that was slow is reported as; nothing if it was not.
/// @param subject where
/// @param step what was done, such as "running a kernel"
Findings slow_step(const std::string& subject, const std::string& step, SteadyClock::duration time);

/// Checks what needs no node: the OpenCL drivers that loaders find, settings, keys, free space.
Findings check_host(const icd::SettingValues& settings);

/// Has the cliqued of this host try the walls around sessions. Those that are missing are open: programs work
/// without them. Returns at the deadline.
/// @param has_nodes no sessions need to run on this host
Findings check_walls(bool has_nodes, SteadyClock::time_point deadline);

/// What is known about a node.
struct NodeFindings {
  icd::NodeAddress address;
  std::string name;       ///< its own name; empty: it has not offered any devices
  std::string interface;  ///< the name of this host's network interface to it; empty: not known
  double link_speed = 0;  ///< of that interface, in bytes per second; 0: not known, or it is this host
  Findings findings;
};
/// Checks each configured node, all at the same time: name, port, key, admission, devices, clock, network.
/// Returns at the deadline, also if a node has not answered. Then threads that wait for it still run.
/// @param patience how long a node may be silent; one that starts its drivers says so
/// @param take_prompt called once with the nodes whose checks have ended, as soon as all have, or some are
/// late: then others need not wait for those. May be empty
std::vector<NodeFindings> check_nodes(
    const icd::NodeSettings& settings, SteadyClock::time_point deadline, SteadyClock::duration patience,
    const std::function<void(const std::vector<NodeFindings>&)>& take_prompt = {});

/// Asks the nodes what their hosts lack, and has them try to reach each other. Returns at the deadline, or
/// soon after it.
/// @param nodes those that can be used
Findings check_cluster(const icd::NodeSettings& settings, const std::vector<NodeFindings>& nodes,
                       SteadyClock::time_point deadline);

/// Checks OpenCL in a process of its own: loader, drivers, sessions, a kernel on each device, transfers.
/// @param nodes those that are used; if it is empty, this host
Findings check_devices(const std::vector<NodeFindings>& nodes, bool configured,
                       SteadyClock::time_point deadline);

/// Bytes per second, for people.
std::string speed_text(double speed);

}  // namespace clique::cli::doctor
