// The modules of this folder, assembled: in the folder that $CLIQUE_SPIRV_MODULES names.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace clique::test {

/// The module of `name`.spvasm. Empty where there was no assembler when the tests were built.
inline std::vector<std::uint8_t> spirv_module(const std::string& name) {
  const char* const folder = std::getenv("CLIQUE_SPIRV_MODULES");
  if (folder == nullptr || *folder == '\0') return {};
  std::ifstream file(std::string(folder) + "/" + name + ".spv", std::ios::binary);
  if (!file) throw std::runtime_error("no module " + name);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace clique::test
