#include "daemon/compiler/contract/request.hpp"

#include <CL/cl.h>

namespace clique::daemon::compiler {

std::int32_t failure_status(Request::Kind kind) {
  switch (kind) {
    case Request::Kind::Compile:
      return CL_COMPILE_PROGRAM_FAILURE;
    case Request::Kind::Link:
      return CL_LINK_PROGRAM_FAILURE;
    case Request::Kind::Build:
    case Request::Kind::Analyse:
      break;
  }
  return CL_BUILD_PROGRAM_FAILURE;
}

std::int32_t options_status(Request::Kind kind) {
  switch (kind) {
    case Request::Kind::Compile:
      return CL_INVALID_COMPILER_OPTIONS;
    case Request::Kind::Link:
      return CL_INVALID_LINKER_OPTIONS;
    case Request::Kind::Build:
    case Request::Kind::Analyse:
      break;
  }
  return CL_INVALID_BUILD_OPTIONS;
}

}  // namespace clique::daemon::compiler
