#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "daemon/common/log.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon {

/// Hands what workers, and the processes that they start, write to standard error over to the journal, with
/// the fields of their session. Workers cannot reach the journal themselves. A thread of its own reads the
/// lines, so that a daemon that is busy does not hold workers up. What they write may be anything. Any
/// thread.
class WorkerLines {
 public:
  /// The standard error of one worker.
  struct Source {
    std::uint64_t id = 0;  ///< 0: the worker has that of the daemon
    Fd end;                ///< for the worker; the daemon closes it once that has started
  };

  /// @returns null unless the log goes to the journal with fields, or if this is not possible, which is
  /// logged
  static std::unique_ptr<WorkerLines> start();
  /// Reads what is left of workers that have ended, and ends the thread.
  ~WorkerLines();
  WorkerLines(const WorkerLines&) = delete;
  WorkerLines& operator=(const WorkerLines&) = delete;

  /// For a worker that is to start. Its lines have no fields of a session yet. Throws std::system_error.
  Source add();
  /// The worker's lines have these fields from now on. Does nothing for source 0, and for one that has ended.
  void describe(std::uint64_t source, LogFields fields);

 private:
  struct State;
  explicit WorkerLines(std::shared_ptr<State> state);

  const std::shared_ptr<State> state_;
};

}  // namespace clique::daemon
