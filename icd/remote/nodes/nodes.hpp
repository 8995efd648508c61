// The nodes of the cluster.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "icd/common/node_address.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/process.hpp"
#include "protocol/descriptions.hpp"
#include "protocol/messages/session.hpp"
#include "protocol/security/openssl.hpp"

namespace clique::icd {

/// How the devices of a node are offered and used (NodeSettings).
struct DeviceUse {
  bool names_with_node = false;
  bool idle_first = false;
  bool exclusive = false;
  bool shares_memory = false;            ///< the node's workers can map memory of this process
  bool quarter_of_local_memory = false;  ///< this process is told of a quarter of GPUs' local memory
};

/// A session that was opened.
struct OpenedSession {
  std::vector<std::unique_ptr<Link>> links;       ///< to those of its workers that can be used
  std::vector<protocol::Withheld> withheld = {};  ///< drivers of which it has no worker
};

/// A node of the cluster: its devices, and the session of this process there, which is opened when it is
/// first needed. Thread-safe.
class Node final : private protocol::OpensslUser {
 public:
  /// Opens a session for what was chosen; nothing: for all devices. Throws Error(CL_DEVICE_NOT_AVAILABLE).
  /// Its workers are at least those of the drivers (Driver::id) that are needed now.
  using Open = std::function<OpenedSession(const std::optional<protocol::Choice>& chosen,
                                           std::span<const std::uint32_t> needed)>;
  /// Asks the node which drivers (Driver::id) it would open a session with.
  using Ask = std::function<std::set<std::uint32_t>()>;
  /// Reserves devices, and asks for the load of all. Throws Unreachable.
  using Reserve = std::function<protocol::Loads(const protocol::Choice&)>;

  /// @param address none: these are private workers
  /// @param reserve none: nobody knows the load of the devices
  Node(std::string name, std::vector<protocol::Driver> drivers, Open open, Ask ask, DeviceUse use = {},
       std::optional<NodeAddress> address = {}, Reserve reserve = nullptr);
  ~Node() override;

  /// The node's own name.
  const std::string& name() const { return name_; }
  /// Where its daemon is, as the user wrote it. Nothing: it has none, as private workers.
  const std::optional<NodeAddress>& address() const { return address_; }
  const DeviceUse& use() const { return use_; }
  const std::vector<protocol::Driver>& drivers() const { return drivers_; }
  /// Whether the node knows the load of its devices.
  bool knows_load() const { return reserve_ != nullptr; }
  /// Reserves devices, and asks for the load of all. Only if knows_load(). Throws Unreachable.
  protocol::Loads reserve(const protocol::Choice& choice) const { return reserve_(choice); }
  /// From now on sessions are opened for these devices only. Not while other threads use the node.
  void choose(protocol::Choice choice) { choice_ = std::move(choice); }
  /// The link to the worker that serves drivers()[driver]; it exists as long as the node. Opens a session if
  /// there is none, which takes the connect timeout at most. Throws Error(CL_DEVICE_NOT_AVAILABLE) with the
  /// cause; a later call tries again.
  Link& link(std::size_t driver);
  /// Opens links to several workers at the same time, as link() does. @returns the failures, or empty texts.
  std::vector<std::string> open(std::span<const std::size_t> drivers);
  /// True if the node would open a session with drivers()[driver], as it said within the last second. Asks it
  /// if need be, which takes the connect timeout at most.
  bool available(std::size_t driver);
  /// Reports on standard error that the session is lost, the first time that it is called: a node's workers
  /// are mostly lost together. Does nothing in a forked child of the process that made the node.
  /// @param why names the node and the cause, as Reports::lost
  void say_lost(const std::string& why);
  /// Calls Link::say_goodbye() of all links.
  void say_goodbye();

 private:
  /// The connections to the node end before the process does. Tells the workers; nobody else has to know.
  void before_stop() override;
  void stop_use() override {}
  /// Opens a session for those of the drivers without a link. @returns as open() does
  std::vector<std::string> open_locked(std::span<const std::size_t> drivers);
  /// Keeps the links to workers of drivers() that have none yet.
  void take(std::vector<std::unique_ptr<Link>> links);
  /// What the next session is for: all that has been chosen, or what earlier sessions lack.
  std::optional<protocol::Choice> wanted() const;

  const Birthplace birthplace_;
  const std::string name_;
  const std::vector<protocol::Driver> drivers_;
  const Open open_;
  const Ask ask_;
  const DeviceUse use_;
  const std::optional<NodeAddress> address_;
  const Reserve reserve_;
  std::optional<protocol::Choice> choice_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Link>> links_;  // one for each of drivers_; null: not opened
  std::atomic<bool> said_lost_{false};
  std::set<std::uint32_t> available_;
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

/// Finds the nodes of this process (NodeSettings), in the order of the configuration, and asks all of them
/// for their devices at the same time. If no node is configured, starts private workers on this host. A node
/// that cannot be reached is left out, and reported once on standard error with the cause.
/// @param zmq must outlive the nodes.
std::vector<std::unique_ptr<Node>> find_nodes(protocol::ZmqContext& zmq);

}  // namespace clique::icd
