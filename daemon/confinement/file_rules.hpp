// Which files a process of a session needs. This is the only place that decides this: the process's view of
// the file system and its Landlock rights both come from these rules.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "daemon/confinement/wall.hpp"

namespace clique::daemon::confinement {

/// What a process may do with a file, or with a folder and everything in it.
enum class FileAccess : std::uint8_t {
  Read,
  Execute,  ///< read, and start as a program
  Device,   ///< read, write and ioctl() what exists
  Write     ///< read, write, create and remove, but not start as a program
};

struct FileRule {
  std::filesystem::path path;  ///< absolute; it need not exist
  FileAccess access = FileAccess::Read;
};
using FileRules = std::vector<FileRule>;

/// Determines, with the environment, which files a process needs.
struct FileNeeds {
  Role role = Role::OpenClWorker;
  /// The session's own folder. Empty for private workers, which use their user's folders for caches and
  /// temporary files.
  std::filesystem::path folder;
  /// Programs that it starts, in addition to those that its role implies.
  std::vector<std::filesystem::path> programs;
  /// Whether it uses RDMA.
  bool rdma = false;
  /// Whether it reads files through cuFile.
  bool cufile = false;
};

/// The files that the process needs on this host: the system's libraries, drivers and devices, the files and
/// folders that the environment names (CUDA_HOME, LD_LIBRARY_PATH, OCL_ICD_VENDORS …), and its own folder.
FileRules file_rules(const FileNeeds& needs);
/// Creates the cache folders that the process may use. Rules apply to existing folders only, and behind its
/// walls the process cannot create them itself. Ignores folders that cannot be created.
void make_cache_folders(const FileNeeds& needs);

/// The folders of a driver, given the library that an .icd file names: the library's folder, and the folders
/// beside it in which installations keep data of libraries (share, etc …). Never the whole parent folder,
/// which may be a user's home.
std::vector<std::filesystem::path> folders_of_driver(const std::filesystem::path& library);

}  // namespace clique::daemon::confinement
