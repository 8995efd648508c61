#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "protocol/fd.hpp"
#include "protocol/messages/session.hpp"

namespace clique::daemon {

/// Files that virtual machines of this host see as a device (ivshmem), each of them one machine. Every
/// session of the machine gets a region of its file for rings and arenas, and a place for segments, which is
/// in the second half of the file: sessions without segments find room in the first. The file's content is
/// trusted no more than what comes through a network: the daemon writes there, and reads nothing. One thread.
class GuestMemory {
 public:
  class File;

  /// The parts of a file that one worker's session has, until this is destroyed. Movable.
  class Region {
   public:
    Region() = default;
    /// @param segments where the place for segments begins; 0: it has none
    Region(std::shared_ptr<File> file, std::uint64_t at, std::uint64_t segments)
        : file_(std::move(file)), at_(at), segments_at_(segments) {}
    Region(Region&& other) noexcept = default;
    Region& operator=(Region&& other) noexcept;
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    ~Region();

    explicit operator bool() const { return file_ != nullptr; }
    int descriptor() const;
    std::uint64_t at() const { return at_; }
    std::uint64_t segments_at() const { return segments_at_; }
    /// Bytes; 0: there is no place for segments.
    std::uint64_t segments_size() const;

   private:
    std::shared_ptr<File> file_;
    std::uint64_t at_ = 0;
    std::uint64_t segments_at_ = 0;
  };

  /// Opens the files, and writes to the beginning of each how clients recognise it. Throws ConfigError with
  /// the name of a file that cannot be used.
  /// @param segments bytes that a session may have for segments; not set: a quarter of its file
  explicit GuestMemory(const std::vector<std::string>& files, std::optional<std::uint64_t> segments = {});
  ~GuestMemory();
  GuestMemory(const GuestMemory&) = delete;
  GuestMemory& operator=(const GuestMemory&) = delete;

  /// @param id Choice::memory
  /// @returns a region, and a place for segments if there is room, with zeros in them; none if there is no
  /// such file, or it has no room
  Region assign(const protocol::Bytes& id);

 private:
  std::vector<std::shared_ptr<File>> files_;
};

/// The files that a list with commas names. Throws std::invalid_argument.
std::vector<std::string> parse_guest_memory(const std::string& text);

}  // namespace clique::daemon
