#include "icd/remote/nodes/trust.hpp"

#include <unistd.h>

#include "icd/remote/nodes/resolve.hpp"
#include "protocol/security/socket_owner.hpp"

namespace clique::icd {

namespace {

/// Smaller numbers are system users (Debian policy, section 9.2.2).
constexpr uid_t kFirstOrdinaryUser = 1000;

protocol::Identity identity_of(const SecuritySettings& settings) {
  try {
    return settings.identity.empty() ? protocol::Identity::generate()
                                     : protocol::Identity::read(settings.identity);
  } catch (const protocol::SecurityError& error) {
    throw SettingError(std::string("this client's key: ") + error.what());
  }
}

}  // namespace

Trust::Trust(const SecuritySettings& settings) : Trust(settings, identity_of(settings)) {}

Trust::Trust(const SecuritySettings& settings, const protocol::Identity& identity)
    : insecure_(settings.insecure), tls_(protocol::TlsContext::Role::Client, identity) {
  try {
    if (settings.munge) munge_.emplace(*settings.munge);
  } catch (const protocol::SecurityError& error) {
    throw SettingError(std::string("CLIQUE_AUTH (or auth in nodes.toml): ") + error.what());
  }
  for (const std::string& file : settings.known_nodes) {
    files_ += (files_.empty() ? "" : " or ") + file;
    try {
      protocol::KnownNodes read = protocol::KnownNodes::read(file);
      if (!read.wrong.empty())
        throw SettingError(file + ":" + std::to_string(read.wrong[0].number) + ": " + read.wrong[0].why);
      known_.nodes.insert(known_.nodes.end(), read.nodes.begin(), read.nodes.end());
    } catch (const protocol::SecurityError& error) {
      throw SettingError(error.what());
    }
  }
}

std::string Trust::credential(const protocol::Munge::Binding& binding) const {
  try {
    return munge_ ? munge_->encode(binding) : std::string();
  } catch (const protocol::SecurityError& error) {
    throw Unreachable(std::string(error.what()) +
                      ". Check that munged runs on this host, or set CLIQUE_AUTH=keys");
  }
}

void Trust::check(const NodeAddress& node, const protocol::PublicKey& key, int socket) const {
  const auto known = known_.find(node.host, node.port);
  for (const protocol::KnownNode& entry : known)
    if (entry.key == key) return;
  const std::string command = "clique trust " + node.text();
  if (!known.empty())
    throw Unreachable("its key is " + key.fingerprint() + ", but " + files_ + " lists " +
                      known[0].key.fingerprint() + ". If its administrator changed the key, run '" + command +
                      " --replace'; if not, another host is impersonating it");
  if (insecure_) return;
  if (const auto user = protocol::owner_of_other_end(socket))
    if (*user == ::geteuid() || *user < kFirstOrdinaryUser) return;
  throw Unreachable("its key " + key.fingerprint() + " is not listed in " + files_ +
                    ". Compare it with the one that 'clique key --node' prints there, and run '" + command +
                    "'");
}

}  // namespace clique::icd
