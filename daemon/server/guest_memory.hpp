#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "protocol/fd.hpp"
#include "protocol/messages/session.hpp"

namespace clique::daemon {

/// Files that virtual machines of this host see as a device (ivshmem), each of them one machine. Every
/// session of the machine gets a region of its file. The file's content is trusted no more than what comes
/// through a network: the daemon writes there, and reads nothing. One thread.
class GuestMemory {
 public:
  class File;

  /// A part of a file that one worker's session has, until this is destroyed. Movable.
  class Region {
   public:
    Region() = default;
    Region(std::shared_ptr<File> file, std::uint64_t at) : file_(std::move(file)), at_(at) {}
    Region(Region&& other) noexcept = default;
    Region& operator=(Region&& other) noexcept;
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    ~Region();

    explicit operator bool() const { return file_ != nullptr; }
    int descriptor() const;
    std::uint64_t at() const { return at_; }

   private:
    std::shared_ptr<File> file_;
    std::uint64_t at_ = 0;
  };

  /// Opens the files, and writes to the beginning of each how clients recognise it. Throws ConfigError with
  /// the name of a file that cannot be used.
  explicit GuestMemory(const std::vector<std::string>& files);
  ~GuestMemory();
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;

  /// @param id Choice::memory
  /// @returns an empty region, with zeros in it; none if there is no such file, or it has no room
  Region assign(const protocol::Bytes& id);

 private:
  std::vector<std::shared_ptr<File>> files_;
};

/// The files that a list with commas names. Throws std::invalid_argument.
std::vector<std::string> parse_guest_memory(const std::string& text);

}  // namespace clique::daemon
