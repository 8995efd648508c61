#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "protocol/ids.hpp"

namespace clique::icd {

class Event;
class Worker;

/// The blocking writes of a context that return before they are done. Everything that the application
/// enqueues after such a write has to follow it. An in-order queue guarantees this as long as it is the only
/// queue on its worker; so such a write keeps other queues from being created until it is enqueued, and
/// queues that are created later start by waiting for it. Any thread.
class EarlyWrites {
 public:
  /// Counts a new queue on a worker. @returns the command that the queue's first command has to follow, if
  /// any.
  std::optional<protocol::CommandId> add_queue(const Worker& worker);
  void remove_queue(const Worker& worker);
  /// To be called before a write returns early. @returns a lock that keeps queues from being created, if the
  /// worker has only one queue; otherwise no lock.
  std::unique_lock<std::mutex> only_queue(const Worker& worker);
  /// Notes that such a write has been enqueued. The caller holds the lock.
  void add(const Worker& worker, Event& write);

 private:
  /// Held while a queue is created, or while none may be created. Not held while a queue is destroyed, which
  /// happens wherever the last reference to an event goes.
  std::mutex gate_;
  /// For each worker, its last early write. Guarded by gate_.
  std::map<const Worker*, std::shared_ptr<const protocol::CommandId>> last_;
  std::mutex count_mutex_;  // innermost: no other lock is taken under it
  std::map<const Worker*, unsigned> queues_;
};

}  // namespace clique::icd
