// From SPIR-V to LLVM bitcode, by the node's translator.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "protocol/messages.hpp"

namespace clique::daemon::compiler {

/// Runs find_spirv_translator(): a process of its own, since it is linked with another LLVM and ends itself
/// over modules that are not valid. It ends with this one at the latest. Throws std::runtime_error, with what
/// it says, where it refuses the module, and where the node has none.
/// @param log gets its warnings
protocol::Bytes translate_spirv(std::span<const std::uint8_t> module, std::string& log);

}  // namespace clique::daemon::compiler
