#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "daemon/common/file_status.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon {

/// The folders of this host whose files programs may use through OpenCL (docs/files.md): the setting
/// file-roots, and what the option files of authorized-clients leaves of it for one client. The only place
/// that decides which file a path stands for, and opens files.
class FileRoots {
 public:
  /// None: no file may be opened.
  FileRoots() = default;
  /// Every file that this user may use, for workers that the program itself has started.
  static FileRoots everything();
  /// Parses `read:FOLDER` and `write:FOLDER` with commas between them, or `none`; empty text is the same as
  /// none. Throws std::invalid_argument.
  static FileRoots parse(const std::string& text);

  /// The roots that `wanted` names of these: each lies in one of these, and allows no more. Throws
  /// std::invalid_argument.
  FileRoots narrowed(const FileRoots& wanted) const;

  /// Opens a file, with the rights of this process. Neither `..` nor symbolic links lead out of a root, and
  /// only regular files are opened: never a FIFO or a device, not even for a moment. May wait, as for a file
  /// of a server that does not answer. Any thread. Throws FileError.
  /// @param path absolute
  /// @param access of protocol::file_access
  /// @param direct with O_DIRECT, which not every file system allows
  Fd open(const std::string& path, std::uint8_t access, bool direct = false) const;

  bool empty() const { return roots_.empty(); }
  /// As parse() reads it.
  std::string text() const;

 private:
  struct Root {
    std::filesystem::path path;    ///< absolute, without `.`, `..` and a slash at the end
    bool writable = false;         ///< files may also be written and created
    std::filesystem::path within;  ///< the node's root that contains it; may be the same
  };
  /// The root that contains the path; null if none does.
  const Root* containing(const std::filesystem::path& path) const;

  std::vector<Root> roots_;  // none contains another
};

}  // namespace clique::daemon
