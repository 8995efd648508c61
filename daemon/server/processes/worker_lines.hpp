#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "daemon/common/log.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon {

/// What becomes of the lines that workers write to standard error.
enum class LinesTo : std::uint8_t {
  Log,     ///< a daemon's, with limits
  Program  ///< standard error, which is that of the program whose private workers they are
};

/// The line as a log of this format has it if it says itself that it is of this worker, as the lines of the
/// worker's own log do; otherwise empty.
std::string own_line_of_worker(std::string_view line, pid_t process, LogFormat format);

/// Reads what workers, and the processes that they start, write to standard error. A daemon logs it: in the
/// journal with the fields of their session, elsewhere as lines of this process, unless a line says itself
/// that it is of its worker. Private workers' lines go to the standard error of the program, for whose user
/// they are: all of them, and as they are, but for control characters. A kernel may write anything there, so
/// workers do not have this process's standard error, which may be a file or a terminal. The workers of one
/// client have a number of lines per second (LogLimit), and so have all workers together; a warning says how
/// many were held back. At the level debug all lines are logged. A thread of its own reads the lines, so that
/// a daemon that is busy does not hold workers up. Any thread.
class WorkerLines {
 public:
  /// For one worker.
  struct Pipe {
    Fd to_read;
    Fd to_write;  ///< the worker's standard error; the daemon closes it once that has started
  };

  /// Throws std::system_error.
  static std::unique_ptr<WorkerLines> start(LinesTo to);
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
  /// The worker's lines have these fields from now on, and count for the client. Does nothing for a worker
  /// that has ended.
  /// @param client Permit::client of its session
  void describe(std::uint64_t source, const std::string& client, LogFields fields);

 private:
  struct State;
  explicit WorkerLines(std::shared_ptr<State> state);

  const std::shared_ptr<State> state_;
};

}  // namespace clique::daemon
