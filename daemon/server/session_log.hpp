// What the log says of each session: one line when it begins, and one when it has ended. Both consist of
// NAME=VALUE, for people and for programs that sum up; docs/configuration.md lists the names.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/common/control.hpp"
#include "daemon/common/log.hpp"
#include "daemon/common/usage_sum.hpp"
#include "daemon/server/configuration/visitor.hpp"

namespace clique::daemon {

/// Counts the sessions of a daemon, from 1.
using SessionId = std::uint64_t;

/// Whose a session is.
struct SessionOwner {
  std::string client;  ///< as whom the node has admitted it: Permit::client
  Visitor visitor;
  std::string program;               ///< Hello::client
  std::vector<std::string> devices;  ///< names of the devices that the session has
  bool shared = false;               ///< Permit::shared
  std::uint32_t share = 1;           ///< Permit::share
};

/// Knows the sessions that have not ended, and logs them. The only place that decides how. One thread.
class SessionLog {
 public:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    SessionOwner owner;
    std::string user;  ///< of the program; empty: nobody knows
    Clock::time_point since;
    std::size_t workers;             ///< that have not ended
    std::size_t without_record = 0;  ///< workers that have ended without a record
    SessionRecord sum = {};          ///< of all records; `end` has the reasons of those that have one
  };

  /// The daemon has given so many workers to the session.
  void begin(SessionId session, SessionOwner owner, std::size_t workers);
  /// A worker of the session has ended; the session has if it was the last one.
  /// @param record what the worker has sent at its end; none if it could not
  /// @param how what is wrong with its process's end; empty: nothing is
  void worker_ended(SessionId session, const std::optional<SessionRecord>& record, const std::string& how);
  /// The daemon ends the session for this reason, which its workers may not live to say.
  void ends(SessionId session, const std::string& reason);
  /// The sessions that have not ended.
  const std::map<SessionId, Entry>& sessions() const { return sessions_; }

 private:
  std::map<SessionId, Entry> sessions_;
};

/// Whose a session is, what it has used, and how its data have travelled, for lines about it. The numbers may
/// be anything.
LogFields owner_fields(const SessionLog::Entry& entry);
LogFields usage_fields(const SessionLog::Entry& entry, const protocol::Usage& usage);
LogFields link_fields(const SessionLinks& links);

}  // namespace clique::daemon
