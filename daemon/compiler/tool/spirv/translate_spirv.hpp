// Translating SPIR-V to LLVM bitcode with the node's translator.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "protocol/payload.hpp"

namespace clique::daemon::compiler {

/// Makes the files in memory through which modules go to the translator, for good. A process that may not
/// make any later calls this first. Throws std::system_error.
void make_files_for_translator();

/// Translates a module with the program that find_spirv_translator() names. It runs as a process of its own,
/// because it is linked with another LLVM and aborts on invalid modules; it is killed if this process ends
/// first. Throws std::runtime_error if the node has no translator or the translator fails.
/// @param log receives the translator's messages
protocol::Bytes translate_spirv(std::span<const std::uint8_t> module, std::string& log);

}  // namespace clique::daemon::compiler
