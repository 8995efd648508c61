// Access to the assembled modules of this folder. $CLIQUE_SPIRV_MODULES names the folder with the results.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace clique::test {

/// The module assembled from `name`.spvasm. Empty if CLIQUE_SPIRV_MODULES is not set: there was no assembler
/// when the tests were built. Throws std::runtime_error if the file is missing.
inline std::vector<std::uint8_t> spirv_module(const std::string& name) {
  const char* const folder = std::getenv("CLIQUE_SPIRV_MODULES");
  if (folder == nullptr || *folder == '\0') return {};
  std::ifstream file(std::string(folder) + "/" + name + ".spv", std::ios::binary);
  if (!file)
    throw std::runtime_error("cannot read " + std::string(folder) + "/" + name +
                             ".spv; build the target spirv_modules");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace clique::test
