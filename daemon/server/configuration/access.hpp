#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>

#include "daemon/server/configuration/device_filter.hpp"
#include "daemon/server/configuration/file_roots.hpp"
#include "daemon/server/configuration/visitor.hpp"
#include "protocol/security/key_files.hpp"

namespace clique::daemon {

/// The rules by which the node admits clients.
struct AccessSettings {
  bool keys = true;                  ///< clients whose keys are authorized
  std::optional<std::string> munge;  ///< users with a MUNGE credential; munged's socket, empty: its default
  std::filesystem::path authorized_clients;  ///< the file with their keys
  std::set<uid_t> local_users;               ///< may use it from this host, beside the daemon's own user
  bool all_local_users = false;
  bool insecure = false;                       ///< everybody who reaches the port may
  std::uint32_t share = 1;                     ///< of clients that have no other: Permit::share
  std::map<uid_t, std::uint32_t> user_shares;  ///< of users who are admitted without a key
  FileRoots files;                             ///< folders whose files clients may use
};

/// A client that is admitted, and its limits.
struct Permit {
  /// The same for all connections of one client: its name in authorized-clients, or its user.
  std::string client;
  std::size_t sessions = 0;  ///< at a time; 0: no limit of its own
  std::uint64_t memory = 0;  ///< bytes of a session on each driver's devices; 0: no limit of its own
  std::optional<DeviceSubset> devices = {};  ///< that it may use; none: all
  FileRoots files = {};                      ///< folders whose files it may use
  bool shared = false;      ///< nobody knows whether two connections with this permit are one client's
  bool admin = false;       ///< sees and ends all sessions, and drains the node
  std::uint32_t share = 1;  ///< how much of a device each session is to have, relative to other sessions

  /// Whether it may use any device of the driver, a position in NodeDevices::served.
  bool may_use(std::uint32_t driver) const { return !devices || !devices->at(driver).empty(); }
};

/// Decides who is admitted. One thread.
class Access {
 public:
  /// What somebody wants to be admitted for.
  enum class Purpose : std::uint8_t {
    Use,     ///< to learn of devices, and to run programs
    Operate  ///< to look at the node, and to steer it: root of this host may do so as well
  };

  /// Reads the keys. Throws ConfigError if the file cannot be read.
  /// @param devices of the node
  Access(AccessSettings settings, NodeDevices devices);

  /// Reads the keys again. What is wrong in their file is logged, and holds nobody's key; a file that cannot
  /// be read changes nothing.
  void reload();
  /// The same if the file has changed.
  void refresh();
  /// Whether the visitor has to show a MUNGE credential to be admitted, and may do so.
  bool wants_credential(const Visitor& visitor, Purpose purpose) const;
  /// @returns the permit, or the reason why the visitor gets none, which names what helps
  std::variant<Permit, std::string> decide(const Visitor& visitor, Purpose purpose,
                                           const std::string& node) const;

 private:
  void read();
  /// Finds the devices and folders of clients that may not use all of them.
  void read_subsets();
  /// The permit of a visitor whom the node admits for another reason than a MUNGE credential.
  std::optional<Permit> permit_of(const Visitor& visitor, Purpose purpose) const;
  std::uint32_t share_of(uid_t user) const;

  const AccessSettings settings_;
  const NodeDevices devices_;
  protocol::AuthorizedClients authorized_;
  std::map<protocol::PublicKey, DeviceSubset> subsets_;  // of clients that may not use all devices
  std::map<protocol::PublicKey, FileRoots> files_;       // of clients that may not use all folders
  std::filesystem::file_time_type changed_;
};

/// protocol::parse_share(). Throws std::invalid_argument.
std::uint32_t parse_share(const std::string& text);

/// The name of a user of this host; the number if it has none.
std::string user_name(uid_t user);

/// By what clients may prove who they are: a list of "keys", "munge" and "munge:SOCKET", separated by commas.
/// Throws std::invalid_argument.
void parse_auth(const std::string& text, AccessSettings& settings);

/// The users that a list of names and numbers separated by commas stands for; '*' is everybody. Throws
/// std::invalid_argument.
void parse_local_users(const std::string& text, AccessSettings& settings);

/// The shares of users: a list of USER=SHARE separated by commas, see protocol::parse_share(). Throws
/// std::invalid_argument.
void parse_user_shares(const std::string& text, AccessSettings& settings);

}  // namespace clique::daemon
