#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "daemon/backend/cuda/handlers/commands.hpp"

namespace clique::daemon::cuda {

/// Waiting for commands: in queues, for other workers, and for the client. Main thread.
class Events {
 public:
  Events(Reporter& reporter, CommandReports& reports, Commands& commands, Scheduler& scheduler,
         const Table<Queue>& queues)
      : reporter_(reporter), reports_(reports), commands_(commands), scheduler_(scheduler), queues_(queues) {}
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  void handle(protocol::Marker&& message);
  void handle(protocol::Barrier&& message);
  void handle(protocol::Finish&& message);
  void handle(protocol::AwaitRemote&& message);
  void handle(protocol::WatchEvent&& message);

  /// As Backend::set_remote().
  void set_remote(protocol::CommandId command, std::int32_t status);
  /// As Backend::when_ended().
  void when_ended(protocol::CommandId command, std::function<void(std::int32_t)> action);

  /// Reports every command and every Finish that is still pending as failed with CL_OUT_OF_RESOURCES. For the
  /// end of the session.
  void fail_pending();

 private:
  Reporter& reporter_;
  CommandReports& reports_;
  Commands& commands_;
  Scheduler& scheduler_;
  const Table<Queue>& queues_;
  /// What each Finish waits for, until it has ended.
  std::unordered_map<protocol::RequestId, TaskRef> finishes_;
};

}  // namespace clique::daemon::cuda
