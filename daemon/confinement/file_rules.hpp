// Which files a process of a session needs. The only place that decides it: the process's view of the file
// system and its rights are both made from this list.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "daemon/confinement/wall.hpp"

namespace clique::daemon::confinement {

/// How a process uses a file, or a folder with all that is in it.
enum class FileAccess : std::uint8_t {
  Read,
  Execute,  ///< to read it, and to start it as a program
  Device,   ///< to read and to write what is there, with ioctl()
  Write     ///< to read, to write, to create and to remove; not to start programs
};

struct FileRule {
  std::filesystem::path path;  ///< absolute; it need not exist
  FileAccess access = FileAccess::Read;
};
using FileRules = std::vector<FileRule>;

/// What determines the files of a process, besides its environment.
struct FileNeeds {
  Role role = Role::OpenClWorker;
  /// The folder that belongs to this session's process alone. Empty for private workers, which use the
  /// folders for caches and temporary files of their user.
  std::filesystem::path folder;
  /// Programs that it starts, apart from those that its role implies.
  std::vector<std::filesystem::path> programs;
};

/// The files that the process needs on this host: the system's libraries, drivers and devices, what the
/// environment names (CUDA_HOME, LD_LIBRARY_PATH, OCL_ICD_VENDORS …), and its own folder.
FileRules file_rules(const FileNeeds& needs);
/// Makes the folders of caches that the process may use: a wall cannot have a door to what does not exist,
/// and behind it the process cannot make them. What cannot be made is left out.
void make_cache_folders(const FileNeeds& needs);

/// The folders that belong to a driver, given the library that an .icd file names: that of the library, and
/// beside it those where installations keep what belongs to libraries. Never the folder above alone, which
/// may be a user's.
std::vector<std::filesystem::path> folders_of_driver(const std::filesystem::path& library);

}  // namespace clique::daemon::confinement
