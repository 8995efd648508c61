// SPIR-V modules of any content, as the compiler rewrites those with cooperative matrices.
#include "daemon/compiler/contract/spirv.hpp"
#include "daemon/compiler/tool/spirv/cooperative_matrices.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/spirv/matrix_module.hpp"

namespace clique::fuzz::target_spirv_matrices {
namespace {

using namespace clique::daemon::compiler;

std::string text_of_module(const spirv::MatrixModule& module) {
  const auto bytes = module.bytes();
  return {bytes.begin(), bytes.end()};
}

std::vector<std::string> seeds() {
  return {text_of_module(spirv::MatrixModule::complete()), text_of_module(spirv::MatrixModule::begun())};
}

void test(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const auto block = input.block(size);
  const std::span module(reinterpret_cast<const std::uint8_t*>(block->data()), block->size());
  try {
    const auto rewritten = lower_cooperative_matrices(module, true);
    if (!rewritten) return;
    require(is_spirv(*rewritten), "the result has the form of a module");
    require(!lower_cooperative_matrices(*rewritten, true), "nothing is left to rewrite");
  } catch (const std::runtime_error&) {
    return;
  }
}

const Registration kTarget{"spirv_matrices", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_spirv_matrices
