#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "protocol/messages.hpp"

namespace clique::daemon {

class Backend;

/// Events of other workers, and user events, that this worker's commands wait for. Their completion may
/// arrive before AwaitRemote announces them. Main thread.
class RemoteEvents {
 public:
  explicit RemoteEvents(Backend& backend) : backend_(backend) {}

  void await(protocol::AwaitRemote&& message);
  /// Throws RuleBroken for a status that is not CL_COMPLETE or an error code.
  void complete(protocol::CommandId command, std::int32_t status);
  /// Keeps the events that have not completed, and takes them off the list: the client may release an event
  /// while commands here still wait for it. They are released when they complete.
  void release(std::vector<protocol::CommandId>& events);

 private:
  Backend& backend_;
  std::map<protocol::CommandId, std::int32_t> early_;  // completed before they were announced
  std::set<protocol::CommandId> awaited_;
  std::set<protocol::CommandId> released_;  // of the awaited ones
};

}  // namespace clique::daemon
