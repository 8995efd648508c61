#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace clique::cli {

/// The file with the private key: `named` if it is not empty, otherwise the node's or this user's default.
/// Throws Failed if the environment does not determine this user's default.
std::filesystem::path identity_file(const std::string& named, bool of_node);

/// The files that list known nodes: `named` if it is not empty, otherwise those that this user's programs
/// read. New keys go to the first one.
std::vector<std::string> known_nodes_files(const std::string& named);

}  // namespace clique::cli
