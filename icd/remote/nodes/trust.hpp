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

/// This client's key, and the keys of the nodes that it trusts. Thread-safe.
class Trust {
 public:
  /// Reads the files that the settings name. Throws SettingError.
  explicit Trust(const SecuritySettings& settings);

  /// For connections to nodes: proves this client's key. A client without a key file generates a key.
  const protocol::TlsContext& tls() const { return tls_; }

  /// A MUNGE credential for a connection (TlsChannel::binding()); empty if the settings do not ask for one.
  /// Throws Unreachable.
  std::string credential(const protocol::Munge::Binding& binding) const;

  /// Returns if the key that a node has proven is trusted: it is listed; or no key of the node is listed, and
  /// its daemon runs on this host as this user or as a system user, or the setting `insecure` is on.
  /// Otherwise throws Unreachable with the reason and a remedy.
  /// @param socket of the connection to the node
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
