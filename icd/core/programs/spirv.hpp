#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <span>

#include "protocol/payload.hpp"

namespace clique::icd {

/// Changes the default value of a specialization constant in a SPIR-V module, which specializes it for any
/// later compilation. Throws Error: CL_INVALID_PROGRAM if it is not a SPIR-V module, CL_INVALID_SPEC_ID if it
/// has no such constant, CL_INVALID_VALUE if `value` has another size than the constant (1 byte for a
/// boolean).
void specialize_spirv(protocol::Bytes& module, cl_uint constant, std::span<const std::byte> value);

}  // namespace clique::icd
