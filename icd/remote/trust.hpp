#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "icd/common/node_address.hpp"
#include "icd/common/settings.hpp"
#include "protocol/security/key_files.hpp"
#include "protocol/security/munge.hpp"
#include "protocol/security/tls.hpp"

namespace clique::icd {

/// By which key this client is known to nodes, and by which keys it knows them. Thread-safe.
class Trust {
 public:
  /// Reads the files that the settings name. Throws SettingError.
  explicit Trust(const SecuritySettings& settings);

  /// For connections to nodes: proves this client's key. A client without one makes one up.
  const protocol::TlsContext& tls() const { return tls_; }

  /// A MUNGE credential for a connection (TlsChannel::binding()); empty if the settings do not ask for one.
  /// Throws Unreachable.
  std::string credential(const protocol::Munge::Binding& binding) const;

  /// Whether the node that has proven this key is the one that the user means. A node whose key is not listed
  /// is, if its daemon runs on this host for this user or for the system, or if the settings say insecure.
  /// Throws Unreachable with what helps.
  /// @param socket of the connection
  void check(const NodeAddress& node, const protocol::PublicKey& key, int socket) const;

 private:
  explicit Trust(const SecuritySettings& settings, const protocol::Identity& identity);

  const bool insecure_;
  std::string files_;  // for messages
  protocol::KnownNodes known_;
  protocol::TlsContext tls_;
  std::optional<protocol::Munge> munge_;
};

}  // namespace clique::icd
