#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "protocol/fd.hpp"

namespace clique::daemon {

/// A folder for the temporary files of one worker and for the programs that its driver compiles. It exists as
/// long as this object. If a daemon is killed, the next one removes the folders that it left.
class SessionFolder {
 public:
  /// Name of the folder inside for the programs that PoCL compiles.
  static constexpr const char* kPrograms = "pocl";

  /// No folder.
  SessionFolder() = default;
  /// Creates a folder in `root`, or elsewhere if the disk of `root` is full. Throws std::system_error.
  explicit SessionFolder(const std::filesystem::path& root);
  SessionFolder(SessionFolder&& other) noexcept;
  SessionFolder& operator=(SessionFolder&& other) noexcept;
  SessionFolder(const SessionFolder&) = delete;
  SessionFolder& operator=(const SessionFolder&) = delete;
  /// Removes the folder in another thread, because it may contain any number of files.
  ~SessionFolder();

  /// Moves the programs compiled for an earlier session of the same owner into this folder, unless another
  /// session uses them, and keeps the programs of this session for the next one. Sessions of different owners
  /// must not run each other's programs: drivers that compile in the process that runs kernels can be made to
  /// store anything. Programs are kept within limits, also of all owners together; those that have not been
  /// used for longest go first.
  /// @param owner Permit::client of the session
  void use_programs_of(const std::string& owner);

  /// Empty if there is no folder.
  const std::filesystem::path& path() const { return path_; }

  /// Removes the folders in `root` that no living daemon owns.
  static void remove_abandoned(const std::filesystem::path& root);
  /// Waits until the folders of destroyed objects are gone, for `limit` at most.
  static void wait_until_removed(std::chrono::milliseconds limit);

 private:
  void swap(SessionFolder& other) noexcept;

  std::filesystem::path path_;
  std::filesystem::path kept_;  ///< where to keep the programs afterwards; empty: nowhere
  Fd lock_;                     ///< shows other daemons that the folder is in use
};

}  // namespace clique::daemon
