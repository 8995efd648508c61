// The modules of this folder, assembled. What includes it needs the definition CLIQUE_SPIRV_MODULES.
#pragma once

#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace clique::test {

/// The module of `name`.spvasm. Empty where there was no assembler when the tests were built.
inline std::vector<std::uint8_t> spirv_module(const std::string& name) {
  const std::string folder = CLIQUE_SPIRV_MODULES;
  if (folder.empty()) return {};
  std::ifstream file(folder + "/" + name + ".spv", std::ios::binary);
  if (!file) throw std::runtime_error("no module " + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace clique::test
