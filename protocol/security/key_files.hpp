// The files that list keys. Each line is one entry; blank lines and lines that begin with '#' say nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/security/public_key.hpp"

namespace clique::protocol {

/// A line that cannot be read, which holds nobody's key.
struct WrongLine {
  std::size_t number;  ///< from 1
  std::string why;
};

/// An entry of known-nodes: `PATTERN KEY`.
struct KnownNode {
  /// HOST, or HOST:PORT for another port than the default; '*' and '?' stand for any characters, so that one
  /// line can name a whole cluster.
  std::string pattern;
  PublicKey key;
};

/// The nodes whose keys a client knows.
struct KnownNodes {
  std::vector<KnownNode> nodes;
  std::vector<WrongLine> wrong;

  static KnownNodes parse(std::string_view text);
  /// Reads a file; empty if there is none. Throws SecurityError.
  static KnownNodes read(const std::filesystem::path& path);

  /// The entries that name the node. IPv6 addresses are without brackets.
  std::vector<KnownNode> find(std::string_view host, std::uint16_t port) const;
};

/// How an entry of known-nodes names a node.
std::string known_node_name(std::string_view host, std::uint16_t port);

/// An entry of authorized-clients: `KEY NAME [OPTION=VALUE …]`.
struct AuthorizedClient {
  PublicKey key;
  std::string name;          ///< for logs
  std::size_t sessions = 0;  ///< at a time; 0: no limit of its own
  std::uint64_t memory = 0;  ///< bytes of a session on each driver's devices; 0: no limit of its own
  std::string devices;       ///< that it may use, written as cliqued's setting of this name; empty: all
  std::size_t line = 0;      ///< of the entry, from 1
};

/// The clients that a node admits.
struct AuthorizedClients {
  std::map<PublicKey, AuthorizedClient> clients;
  std::vector<WrongLine> wrong;

  static AuthorizedClients parse(std::string_view text);
  /// Reads a file; empty if there is none. Throws SecurityError.
  static AuthorizedClients read(const std::filesystem::path& path);
};

/// Bytes: a whole number that K, M, G or T (powers of 1024) may follow. Throws SecurityError.
std::uint64_t parse_bytes(std::string_view text);

}  // namespace clique::protocol
