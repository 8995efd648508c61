// Connecting broken lines again.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "icd/common/function_ref.hpp"
#include "icd/remote/link/daemon_probe.hpp"
#include "icd/remote/link/tended_line.hpp"

namespace clique::icd {

class BulkLines;
class Inbox;
class LinkControl;
class Outbox;

/// Looks after all lines of a link. A line whose connection broke is connected again, until that takes longer
/// than the resume timeout; then the link is given up. With a resume timeout of 0 the session cannot outlive
/// its connections, and the link is given up as soon as one of them breaks. For the background
/// thread, unless stated otherwise.
class Reconnect {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param node its name, for people
  /// @param daemon see DaemonProbe
  /// @param reports may be the same line as `commands`
  Reconnect(std::string node, std::optional<protocol::StreamTarget> daemon,
            std::shared_ptr<protocol::Line> commands, std::shared_ptr<protocol::Line> reports, Outbox& outbox,
            Inbox& inbox, BulkLines& bulk, LinkControl& control);

  /// Sets the resume timeout; 0 until this is called. Any thread.
  void set_timeout(std::chrono::milliseconds timeout);
  std::chrono::milliseconds timeout() const { return timeout_.load(); }
  /// Leaves the lines alone from now on, because the link closes. Any thread.
  void stop() { stopped_.store(true); }

  /// Appends the descriptors that become readable when a connection breaks or comes about.
  void watch(std::vector<int>& descriptors);
  /// Does what is necessary, without waiting.
  /// @returns false if some line is broken, so that this has to be called again soon.
  bool look(Clock::time_point now);

 private:
  /// Calls function(line) for all lines.
  void for_each(FunctionRef<void(const TendedLine&)> function);
  bool one_line() const { return commands_.line == reports_.line; }
  /// look() with a resume timeout of 0.
  bool check(Clock::time_point now);
  bool check_bulk(Clock::time_point now);
  /// look() with another one.
  bool mend(Clock::time_point now);
  /// Says that the node is silent, once in an outage, and that it answers again.
  void tell(bool fine, Clock::time_point now);
  bool mend(TendedLine& tended, Clock::time_point now, FunctionRef<void()> reconnect);

  const std::string node_;
  DaemonProbe daemon_;
  TendedLine commands_;
  TendedLine reports_;
  Outbox& outbox_;
  Inbox& inbox_;
  BulkLines& bulk_;
  LinkControl& control_;
  std::atomic<std::chrono::milliseconds> timeout_{std::chrono::milliseconds(0)};
  std::atomic<bool> stopped_{false};
  Clock::time_point first_end_;  // since when one of commands_ and reports_ has been broken, for check()
  Clock::time_point bulk_end_;   // the same for a line for large transfers
  Clock::time_point heard_;      // the beginning of the outage that mend() sees; zero: there is none
  Clock::time_point asked_;      // when the daemon was first asked in this outage; zero: it was not
  bool told_ = false;            // the user knows of it
};

}  // namespace clique::icd
