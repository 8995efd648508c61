// One request from begin to end.
#pragma once

#include "daemon/compiler/compiler_process.hpp"
#include "daemon/compiler/tool/device_library.hpp"

namespace clique::daemon::compiler {

/// What beside the binary is of interest on the command line.
struct Dump {
  bool wanted = false;
  std::string optimised;  ///< LLVM's representation, just before PTX is made of it
};

/// Does what the request says. Throws nothing that is the program's fault: that is in the result.
Result compile(const Request& request, const DeviceLibrary& library, Dump* dump = nullptr);

}  // namespace clique::daemon::compiler
