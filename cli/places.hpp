#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace clique::cli {

/// The file with the private key: the one that an option names, otherwise the node's, or this user's. Throws
/// Failed if this user has no place for one.
std::filesystem::path identity_file(const std::string& named, bool of_node);

/// The files of known nodes: the one that an option names, otherwise those that this user's programs read.
/// Keys are added to the first one.
std::vector<std::string> known_nodes_files(const std::string& named);

}  // namespace clique::cli
