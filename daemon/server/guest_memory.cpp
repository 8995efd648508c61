#include "daemon/server/guest_memory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "daemon/common/log.hpp"
#include "daemon/server/config_error.hpp"
#include "protocol/throw_errno.hpp"
#include "protocol/transport/free_ranges.hpp"
#include "protocol/transport/guest_memory.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::daemon {

using protocol::SharedMemory;

class GuestMemory::File {
 public:
  explicit File(const std::string& name)
      : name_(name),
        file_(::open(name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)),
        size_(checked_size()),
        free_(size_),
        head_(protocol::SharedSegment::part_of(file_, 0, protocol::kGuestMemoryHead)),
        id_(protocol::write_guest_memory_head(*head_)) {
    free_.take(protocol::kGuestMemoryHead);
  }

  bool has(const protocol::Bytes& id) const {
    return std::equal(id.begin(), id.end(), id_.begin(), id_.end());
  }

  std::optional<std::uint64_t> take() {
    const auto at = free_.take(SharedMemory::kBytes);
    if (!at) return std::nullopt;
    // What an earlier session has left there is none of this one's business.
    if (::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(*at),
                    static_cast<off_t>(SharedMemory::kBytes)) != 0) {
      spdlog::warn("guest-memory: {} cannot be emptied ({}), so a session does without it", name_,
                   error_text(errno));
      give_back(*at);
      return std::nullopt;
    }
    return *at;
  }
  void give_back(std::uint64_t at) { free_.give_back(at, SharedMemory::kBytes); }

  int descriptor() const { return file_.get(); }

 private:
  std::size_t checked_size() const {
    const auto fail = [this](const std::string& why) {
      throw ConfigError("guest-memory: " + name_ + " " + why);
    };
    if (!file_) fail("cannot be opened: " + error_text(errno));
    struct stat status{};
    if (::fstat(file_.get(), &status) != 0) fail("cannot be used: " + error_text(errno));
    if (!S_ISREG(status.st_mode)) fail("is not a file; name a file in /dev/shm");
    const auto least = protocol::kGuestMemoryHead + SharedMemory::kBytes;
    if (static_cast<std::uint64_t>(status.st_size) < least)
      fail("has " + std::to_string(status.st_size) + " bytes; the smallest that is of use has " +
           std::to_string(least) + ", and each further session needs " +
           std::to_string(SharedMemory::kBytes));
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0)
      fail("is used by another cliqued; each needs files of its own");
    return static_cast<std::size_t>(status.st_size);
  }

  const std::string name_;
  const Fd file_;
  const std::size_t size_;
  protocol::FreeRanges free_;
  const std::shared_ptr<protocol::SharedSegment> head_;
  const protocol::GuestMemoryId id_;
};

GuestMemory::Region& GuestMemory::Region::operator=(Region&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(at_, other.at_);
  return *this;
}

GuestMemory::Region::~Region() {
  if (file_) file_->give_back(at_);
}

int GuestMemory::Region::descriptor() const {
  return file_->descriptor();
}

GuestMemory::GuestMemory(const std::vector<std::string>& files) {
  for (const std::string& name : files) {
    try {
      files_.push_back(std::make_shared<File>(name));
    } catch (const std::system_error& error) {
      throw ConfigError("guest-memory: " + name + " cannot be used: " + error.what());
    }
  }
}

GuestMemory::~GuestMemory() = default;

GuestMemory::Region GuestMemory::assign(const protocol::Bytes& id) {
  const auto file =
      std::find_if(files_.begin(), files_.end(), [&id](const auto& one) { return one->has(id); });
  if (file == files_.end()) return {};
  const auto at = (*file)->take();
  return at ? Region(*file, *at) : Region();
}

std::vector<std::string> parse_guest_memory(const std::string& text) {
  std::vector<std::string> files;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    if (word.empty() || word.front() != '/')
      throw std::invalid_argument("'" + word +
                                  "' is not the path of a file; write for example /dev/shm/guest-1");
    files.push_back(std::move(word));
  }
  return files;
}

}  // namespace clique::daemon
