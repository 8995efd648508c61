// The files that list keys. Each line is one entry; blank lines and lines that begin with '#' are ignored.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/security/public_key.hpp"

namespace clique::protocol {

/// An invalid line, which is skipped.
struct WrongLine {
  std::size_t number;  ///< from 1
  std::string why;
};

/// An entry of known-nodes: `PATTERN KEY`.
struct KnownNode {
  /// HOST, or HOST:PORT for a port other than the default. The wildcards '*' and '?' let one line match a
  /// whole cluster.
  std::string pattern;
  PublicKey key;
};

/// The nodes that a client trusts.
struct KnownNodes {
  std::vector<KnownNode> nodes;
  std::vector<WrongLine> wrong;

  static KnownNodes parse(std::string_view text);
  /// Reads a file; the result is empty if it does not exist. Throws SecurityError.
  static KnownNodes read(const std::filesystem::path& path);

  /// The entries that match the node.
  /// @param host IPv6 addresses without brackets
  std::vector<KnownNode> find(std::string_view host, std::uint16_t port) const;
};

/// The name of a node in known-nodes.
std::string known_node_name(std::string_view host, std::uint16_t port);

/// An entry of authorized-clients: `KEY NAME [OPTION …]`.
struct AuthorizedClient {
  PublicKey key;
  std::string name;          ///< for logs
  std::size_t sessions = 0;  ///< largest number of concurrent sessions; 0: no limit of its own
  std::uint64_t memory = 0;  ///< bytes of a session on each driver's devices; 0: no limit of its own
  std::string devices;       ///< that it may use, written as cliqued's setting of this name; empty: all
  std::string files;         ///< folders that it may use, as in cliqued's setting file-roots; empty: all
  bool admin = false;        ///< sees and ends all sessions, and drains the node
  std::uint32_t share = 0;   ///< of devices, see parse_share(); 0: no share of its own
  std::size_t line = 0;      ///< of the entry, from 1
};

/// The clients that a node admits.
struct AuthorizedClients {
  std::map<PublicKey, AuthorizedClient> clients;
  std::vector<WrongLine> wrong;

  static AuthorizedClients parse(std::string_view text);
  /// Reads a file; the result is empty if it does not exist. Throws SecurityError.
  static AuthorizedClients read(const std::filesystem::path& path);
};

/// Parses a number of bytes: a whole number, optionally with the suffix K, M, G or T (powers of 1024). Throws
/// SecurityError.
std::uint64_t parse_bytes(std::string_view text);

/// Parses how much of a device each session is to have, relative to other sessions: a whole number from 1 to
/// 1000. Throws SecurityError.
std::uint32_t parse_share(std::string_view text);

}  // namespace clique::protocol
