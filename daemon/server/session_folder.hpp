#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "protocol/fd.hpp"

namespace clique::daemon {

/// A folder for what the driver of one process compiles and for its temporary files. It exists as long as
/// this object; what another daemon that was killed has left is removed when the next one starts.
class SessionFolder {
 public:
  /// The folder in it for what PoCL compiles.
  static constexpr const char* kPrograms = "pocl";

  /// No folder.
  SessionFolder() = default;
  /// Creates a folder in `root`, or where there is room if that has none. Throws std::system_error.
  explicit SessionFolder(const std::filesystem::path& root);
  SessionFolder(SessionFolder&& other) noexcept;
  SessionFolder& operator=(SessionFolder&& other) noexcept;
  SessionFolder(const SessionFolder&) = delete;
  SessionFolder& operator=(const SessionFolder&) = delete;
  /// Has it removed by another thread, since a process may leave any number of files.
  ~SessionFolder();

  /// Gives the process what drivers compiled for an earlier session of the same owner, if no other session
  /// has it at the moment, and keeps what they compile now for the next one. Only sessions of one owner may
  /// run each other's programs, since a driver that compiles in the process that runs kernels may be made to
  /// store anything.
  /// @param owner whoever the session is for, as admission knows them
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
  std::filesystem::path kept_;  ///< where the programs are kept afterwards; empty: nowhere
  Fd lock_;                     ///< tells other daemons that the folder is in use
};

}  // namespace clique::daemon
