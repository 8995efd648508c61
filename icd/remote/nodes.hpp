// The nodes of the cluster.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "icd/remote/link.hpp"
#include "icd/remote/process.hpp"
#include "protocol/descriptions.hpp"

namespace clique::icd {

/// A node of the cluster: its devices, and the session of this process there, which is opened when it is
/// first needed. Thread-safe.
class Node {
 public:
  /// Opens a session. @returns links to those of its workers that can be used.
  /// Throws Error(CL_DEVICE_NOT_AVAILABLE).
  using Open = std::function<std::vector<std::unique_ptr<Link>>()>;
  /// Asks the node whether it would open a session.
  using Ask = std::function<bool()>;

  /// @param names_devices see names_devices()
  Node(std::string name, std::vector<protocol::Driver> drivers, Open open, Ask ask,
       bool names_devices = false);

  /// The node's own name.
  const std::string& name() const { return name_; }
  /// Whether the node's name is to be a part of its devices' names.
  bool names_devices() const { return names_devices_; }
  const std::vector<protocol::Driver>& drivers() const { return drivers_; }
  /// The link to the worker that serves drivers()[driver]; it exists as long as the node. Opens a session if
  /// there is none, which takes the connect timeout at most. Throws Error(CL_DEVICE_NOT_AVAILABLE) with the
  /// cause; a later call tries again.
  Link& link(std::size_t driver);
  /// True if the node would open a session, as it said within the last second. Asks it if need be, which
  /// takes the connect timeout at most.
  bool available();
  /// Reports on standard error that the session is lost, the first time that it is called: a node's workers
  /// are mostly lost together. Does nothing in a forked child of the process that made the node.
  /// @param why names the node and the cause, as Reports::lost
  void say_lost(const std::string& why);
  /// Calls Link::say_goodbye() of all links.
  void say_goodbye();

 private:
  const Birthplace birthplace_;
  const std::string name_;
  const std::vector<protocol::Driver> drivers_;
  const Open open_;
  const Ask ask_;
  const bool names_devices_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Link>> links_;  // one for each of drivers_; null: not opened
  std::atomic<bool> said_lost_{false};
  bool available_ = true;
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

/// Finds the nodes of this process (NodeSettings), in the order of the configuration, and asks all of them
/// for their devices at the same time. If no node is configured, starts private workers on this host. A node
/// that cannot be reached is left out, and reported once on standard error with the cause.
/// @param zmq must outlive the nodes.
std::vector<std::unique_ptr<Node>> find_nodes(zmq::context_t& zmq);

}  // namespace clique::icd
