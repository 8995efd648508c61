// One request from begin to end.
#pragma once

#include <chrono>
#include <string>

#include "daemon/compiler/contract/request.hpp"
#include "daemon/compiler/tool/linking/device_library.hpp"

namespace clique::daemon::compiler {

struct Settings {
  /// Optimising takes about that long at most; what is not done by then is left out.
  std::chrono::milliseconds optimisation_time{20'000};
  /// Where to write LLVM's representation, as it is just before PTX is made of it; may be null.
  std::string* optimised = nullptr;
};

/// Does what the request says. Throws nothing that is the program's fault: that is in the result.
Result compile(const Request& request, const DeviceLibrary& library, const Settings& settings = {});

}  // namespace clique::daemon::compiler
