#include "cli/common/places.hpp"

#include "cli/common/commands.hpp"
#include "icd/common/settings.hpp"
#include "protocol/security/places.hpp"

namespace clique::cli {

std::filesystem::path identity_file(const std::string& named, bool of_node) {
  if (!named.empty()) return named;
  if (of_node) return protocol::kNodeIdentity;
  std::string file = icd::KeyFiles::of(icd::environment).identity;
  if (file.empty())
    throw Failed(
        "neither HOME nor XDG_CONFIG_HOME is set, so the key has no default place; name its file with "
        "--file");
  return file;
}

std::vector<std::string> known_nodes_files(const std::string& named) {
  if (!named.empty()) return {named};
  return icd::KeyFiles::of(icd::environment).known_nodes;
}

}  // namespace clique::cli
