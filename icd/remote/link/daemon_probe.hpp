// Whether a daemon answers.
#pragma once

#include <memory>
#include <optional>

#include "protocol/streams/dial.hpp"

namespace clique::icd {

/// Asks a node's daemon for a worker that does not exist, which it says at once. So the silence of a worker
/// can be told from that of its host. Does not wait. One thread.
class DaemonProbe {
 public:
  /// @param target streams of a worker of that daemon; nothing: the daemon is not asked
  explicit DaemonProbe(std::optional<protocol::StreamTarget> target);

  /// Asks, if that is not under way.
  void ask();
  /// Whether the daemon has answered since ask().
  bool answered();
  /// Forgets the question.
  void reset();

 private:
  std::optional<protocol::StreamTarget> target_;
  std::unique_ptr<protocol::Dialling> question_;  // null: none is under way
  bool asked_ = false;
  bool answered_ = false;
};

}  // namespace clique::icd
