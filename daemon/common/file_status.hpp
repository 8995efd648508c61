#pragma once

#include <stdexcept>
#include <string>

#include "protocol/messages/files.hpp"

namespace clique::daemon {

/// A file cannot be opened, read or written. what() says why, without naming the file or the node.
class FileError : public std::runtime_error {
 public:
  FileError(protocol::FileStatus status, const std::string& why) : std::runtime_error(why), status_(status) {}
  /// For a system call that has failed. @param error its errno
  explicit FileError(int error);

  protocol::FileStatus status() const { return status_; }

 private:
  protocol::FileStatus status_;
};

}  // namespace clique::daemon
