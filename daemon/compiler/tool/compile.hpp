// Compiling one request. compile.cpp lists the steps from source to PTX; passes/optimise.cpp lists the passes
// over LLVM's representation of the program.
#pragma once

#include <chrono>
#include <string>

#include "daemon/compiler/contract/request.hpp"
#include "daemon/compiler/tool/linking/device_library.hpp"

namespace clique::daemon::compiler {

struct Settings {
  /// When optimising has taken this much processor time, the optional passes that have not run yet are left
  /// out.
  std::chrono::milliseconds optimisation_time{20'000};
  /// Receives LLVM's representation of the program as it is just before code generation; may be null.
  std::string* optimised = nullptr;
  /// Whether #include also reads this host's disk. Only for requests of this host's user.
  bool reads_disk = false;
};

/// Compiles, builds or links. Errors in the program or its options do not throw; they are in the result.
Result compile(const Request& request, const DeviceLibrary& library, const Settings& settings = {});

}  // namespace clique::daemon::compiler
