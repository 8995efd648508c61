#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <span>

#include "protocol/messages.hpp"

namespace clique::icd {

/// Changes the default value of a specialization constant in a SPIR-V module, which is what specializing it
/// means to whoever compiles the module later. Throws Error: CL_INVALID_PROGRAM for what is no SPIR-V module,
/// CL_INVALID_SPEC_ID where it has no such constant, CL_INVALID_VALUE where `value` has another size than the
/// constant (1 for a boolean).
void specialize_spirv(protocol::Bytes& module, cl_uint constant, std::span<const std::byte> value);

}  // namespace clique::icd
