#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "daemon/common/control.hpp"
#include "daemon/server/configuration/file_roots.hpp"
#include "daemon/server/connections/answers.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon {

/// Opens files for workers, each in a thread of its own: a file server that does not answer must hold up
/// nobody but the session that wants its file. The caller limits how many are opened at a time. One thread.
class FileDesk {
 public:
  /// Throws std::system_error.
  FileDesk() = default;
  FileDesk(const FileDesk&) = delete;
  FileDesk& operator=(const FileDesk&) = delete;

  /// Begins to open a file. @param number names the request in its answer
  void open(std::uint64_t number, const FileRoots& roots, FileRequest request);

  struct Answer {
    std::uint64_t number = 0;
    Fd file = {};  ///< none: the notice says why
    Notice notice = {};

    /// Sends it to the worker without waiting. @returns false if the worker does not take it
    bool send(const ControlChannel& worker) const { return worker.send(notice, file.get()); }
  };
  /// A descriptor that is readable while done() has something to return.
  int fd() const { return answers_->fd(); }
  std::vector<Answer> done();

 private:
  const std::shared_ptr<Answers<Answer>> answers_ =
      std::make_shared<Answers<Answer>>();  // shared with the threads, which may outlive this
};

}  // namespace clique::daemon
