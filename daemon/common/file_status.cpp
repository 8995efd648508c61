#include "daemon/common/file_status.hpp"

#include <cerrno>
#include <system_error>

namespace clique::daemon {

namespace {

protocol::FileStatus status_of(int error) {
  using protocol::FileStatus;
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
      return FileStatus::NotFound;
    case EACCES:
    case EPERM:
    case EROFS:
    case ETXTBSY:
    case ELOOP:
    case EXDEV:
      return FileStatus::AccessDenied;
    case EISDIR:
      return FileStatus::NotRegular;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return FileStatus::NoSpace;
    default:
      return FileStatus::IoError;
  }
}

}  // namespace

FileError::FileError(int error) : FileError(status_of(error), std::generic_category().message(error)) {}

}  // namespace clique::daemon
