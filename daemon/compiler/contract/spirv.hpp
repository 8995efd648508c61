// What worker and compiler both know about programs in SPIR-V: how to recognise them, and which program of
// the node translates them. That translator makes LLVM bitcode of them, which clique-compiler then compiles
// like OpenCL C.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace clique::daemon::compiler {

/// Whether the bytes have the form of a SPIR-V module (SPIR-V specification, section 2.3): a header in this
/// machine's byte order, and instructions that end exactly where the module ends. The instructions themselves
/// are left to the translator.
bool is_spirv(std::span<const std::uint8_t> bytes);

/// Khronos' llvm-spirv, installed on the node.
struct SpirvTranslator {
  std::string path;
  /// Distinguishes this translator from others: path, size and modification time of its file.
  std::string identity;
};

/// The node's translator: $CLIQUE_SPIRV_TRANSLATOR if that is set (a path, or empty for none); otherwise the
/// llvm-spirv-N in $PATH of the latest LLVM whose bitcode clique-compiler reads; otherwise the llvm-spirv in
/// $PATH. std::nullopt if there is none.
std::optional<SpirvTranslator> find_spirv_translator();

}  // namespace clique::daemon::compiler
