#pragma once

#include <chrono>
#include <string>

namespace clique::icd {

/// What the parts of a link (inbox, outbox, lines) ask of the link as a whole. Thread-safe.
class LinkControl {
 public:
  virtual ~LinkControl() = default;
  /// Has the background thread look at the link soon.
  virtual void stir() = 0;
  /// Gives the connection up: the link is lost soon, for this reason. Only the first reason counts.
  virtual void give_up(const std::string& reason) = 0;
  /// The receiving thread has nothing to do. If it is the background thread, this serves the other links.
  /// @returns how long the thread may sleep.
  virtual std::chrono::milliseconds idle() = 0;
};

}  // namespace clique::icd
