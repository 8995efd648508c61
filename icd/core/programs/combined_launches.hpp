#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "icd/core/division/divide.hpp"
#include "icd/core/division/launch_gate.hpp"
#include "icd/core/objects/device.hpp"
#include "icd/core/programs/kernel.hpp"
#include "protocol/footprint.hpp"

namespace clique::icd {

class ProgramAnalysis;

/// What one kernel object knows of its launches on one combined device. Under the kernel's lock.
struct CombinedLaunches {
  Ref<Device> device;
  /// Keeps the footprint. Null: nothing will be known of the kernel.
  std::shared_ptr<const ProgramAnalysis> analysis;
  const protocol::Footprint* footprint = nullptr;  ///< well-formed
  bool looked = false;                             ///< whether both are set
  /// How recent launches can be divided, the latest one first.
  struct Known {
    std::string key;  ///< all that the division depends on
    Division division;
  };
  static constexpr std::size_t kMostKnown = 16;
  std::vector<std::unique_ptr<Known>> known;
  /// Also for actions of events, which may outlive the kernel.
  std::shared_ptr<LaunchGate> gate;
  bool connected = false;             ///< whether the first member's worker connects to the others
  std::vector<LaunchGate::Use> uses;  ///< of the last launch, for its memory
};

}  // namespace clique::icd
