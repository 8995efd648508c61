// Programs in SPIR-V: what a worker has to know of them. The node's translator makes LLVM bitcode of them,
// which clique-compiler compiles like OpenCL C's.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace clique::daemon::compiler {

/// Whether the bytes have a SPIR-V module's form (SPIR-V, section 2.3): a header in this machine's order of
/// bytes, and instructions that end where the module does. What the instructions say is the translator's
/// affair.
bool is_spirv(std::span<const std::uint8_t> bytes);

/// Khronos' llvm-spirv, a program of the node.
struct SpirvTranslator {
  std::string path;
  /// Tells this translator from others: which file it is.
  std::string identity;
};

/// What $CLIQUE_SPIRV_TRANSLATOR says (a path, or empty for none), else the llvm-spirv-N of $PATH that
/// belongs to the latest LLVM whose bitcode clique-compiler reads, else llvm-spirv. Nothing where the node
/// has none.
std::optional<SpirvTranslator> find_spirv_translator();

}  // namespace clique::daemon::compiler
