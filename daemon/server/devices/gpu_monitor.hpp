#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/status.hpp"

namespace clique::daemon {

/// The state of a GPU, as NVIDIA's management library (NVML) reports it.
struct GpuReading {
  std::uint64_t memory_total = protocol::kUnknown;  ///< bytes
  std::uint64_t memory_free = protocol::kUnknown;   ///< bytes
  std::uint64_t utilisation = protocol::kUnknown;   ///< percent
  /// The part of its time that the GPU has worked for a process lately, in percent, by process ID. Nothing:
  /// the driver does not tell.
  std::optional<std::map<pid_t, std::uint64_t>> processes = {};
};

/// Asks NVML about the node's GPUs, in a thread of its own, because a driver may take long to answer. The
/// library is opened when it is first needed; nodes without it know nothing. One thread.
class GpuMonitor {
 public:
  using Readings = std::map<std::string, GpuReading>;

  GpuMonitor();
  ~GpuMonitor();
  GpuMonitor(const GpuMonitor&) = delete;
  GpuMonitor& operator=(const GpuMonitor&) = delete;

  /// Begins to ask about these GPUs, unless that is under way or the last answers are recent. Does not wait.
  /// @param uuids protocol::uuid_text(), which NVML writes after the kind
  void ask(std::vector<std::string> uuids);
  /// Whether answers are under way.
  bool asking() const;
  /// The last answers, by UUID.
  Readings readings() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the thread, which may outlive this
  bool started_ = false;
  std::chrono::steady_clock::time_point asked_;
};

}  // namespace clique::daemon
