// The parts of `clique doctor`: what it checks, on this host, at each node, and through OpenCL.
#pragma once

#include <chrono>
#include <map>
#include <memory>
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
/// The check of one node.
class NodeCheck;

/// The checks of all configured nodes, which run at the same time: name, port, key, admission, devices,
/// clock, network. One thread at a time, apart from ended_by(), which any may call.
class NodeChecks {
 public:
  /// Begins to check. Threads that wait for a node may outlive this object.
  /// @param patience how long a node may be silent; one that starts its drivers says so
  NodeChecks(const icd::NodeSettings& settings, SteadyClock::time_point deadline,
             SteadyClock::duration patience);

  /// Waits until all checks have ended, until a time at most. @returns the nodes whose checks have ended
  std::vector<NodeFindings> ended_by(SteadyClock::time_point time) const;
  /// Waits until all checks have ended, or the deadline. @returns all nodes. Of those that have not answered
  /// it says so
  std::vector<NodeFindings> results() const;

 private:
  std::vector<NodeFindings> failed_;  ///< instead of checks, if none are possible
  std::vector<std::shared_ptr<NodeCheck>> checks_;
};

/// Asks the nodes what their hosts lack, and has them try to reach each other. Returns at the deadline, or
/// soon after it.
/// @param nodes those that can be used
Findings check_cluster(const icd::NodeSettings& settings, const std::vector<NodeFindings>& nodes,
                       SteadyClock::time_point deadline);

/// Checks OpenCL in a process of its own: loader, drivers, sessions, a kernel on each device, transfers.
/// Returns at the deadline.
/// @param nodes those that are used; if it is empty, this host
/// @param complete set to whether everything was checked
Findings check_devices(const std::vector<NodeFindings>& nodes, bool configured,
                       SteadyClock::time_point deadline, bool& complete);

/// Bytes per second, for people, in GB/s, MB/s or kB/s.
std::string speed_text(double speed);

}  // namespace clique::cli::doctor
