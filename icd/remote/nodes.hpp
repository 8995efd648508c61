#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "icd/remote/link.hpp"

namespace clique::icd {

/// A node of the cluster: what it offers, and this process's session there, which is opened when it is first
/// needed. Any thread.
class Node {
 public:
  /// Opens a session. @returns links to its workers, those that cannot be used left out.
  /// Throws Error(CL_DEVICE_NOT_AVAILABLE).
  using Open = std::function<std::vector<std::unique_ptr<Link>>()>;
  /// Asks whether there would be one.
  using Ask = std::function<bool()>;

  Node(std::string name, std::vector<protocol::Driver> drivers, Open open, Ask ask);

  /// The node's own name.
  const std::string& name() const { return name_; }
  const std::vector<protocol::Driver>& drivers() const { return drivers_; }
  /// The link to the worker that serves drivers()[driver], as long as the node is. Opens a session where
  /// there is none, which takes the time that a connection may take at most. Throws
  /// Error(CL_DEVICE_NOT_AVAILABLE) with the cause; then it may be tried again.
  Link& link(std::size_t driver);
  /// Whether a session may be expected where there is none, as the node has answered within the last second:
  /// asks it, if need be, which takes the time that a connection may take at most.
  bool available();
  /// Link::say_goodbye, for all there are.
  void say_goodbye();

 private:
  const std::string name_;
  const std::vector<protocol::Driver> drivers_;
  const Open open_;
  const Ask ask_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Link>> links_;  // of drivers_; null: not opened
  bool available_ = true;
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

/// The nodes of this process, in the order of configuration; each has been asked what it offers.
/// Nodes come from CLIQUE_NODES, else ~/.config/clique/nodes.toml, else /etc/clique/nodes.toml, else private
/// workers are started on this host. All are asked at the same time; one that cannot be reached is reported
/// once on stderr with its cause and left out.
/// @param zmq has to outlive the nodes.
std::vector<std::unique_ptr<Node>> find_nodes(zmq::context_t& zmq);

}  // namespace clique::icd
