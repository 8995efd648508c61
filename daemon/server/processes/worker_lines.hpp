#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>

#include "daemon/common/log.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon {

/// Logs what workers, and the processes that they start, write to standard error: in the journal with the
/// fields of their session, elsewhere as lines of this process, unless a line says itself that it is of its
/// worker. A kernel may write anything there, so workers have neither this process's standard error, which
/// may be a file or a terminal, nor more than a number of lines per second. A thread of its own reads the
/// lines, so that a daemon that is busy does not hold workers up. Any thread.
class WorkerLines {
 public:
  /// For one worker.
  struct Pipe {
    Fd to_read;
    Fd to_write;  ///< the worker's standard error; the daemon closes it once that has started
  };

  /// Throws std::system_error.
  static std::unique_ptr<WorkerLines> start();
  /// Reads what is left of workers that have ended, and ends the thread.
  ~WorkerLines();
  WorkerLines(const WorkerLines&) = delete;
  WorkerLines& operator=(const WorkerLines&) = delete;

  /// Throws std::system_error.
  static Pipe make_pipe();
  /// A worker has started. Its lines have no fields of a session yet.
  /// @param end Pipe::to_read
  /// @param process the worker's id
  /// @returns a number for describe()
  std::uint64_t add(Fd end, pid_t process);
  /// The worker's lines have these fields from now on. Does nothing for a worker that has ended.
  void describe(std::uint64_t source, LogFields fields);

 private:
  struct State;
  explicit WorkerLines(std::shared_ptr<State> state);

  const std::shared_ptr<State> state_;
};

}  // namespace clique::daemon
