#include "daemon/server/configuration/guest_memory.hpp"

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
#include "daemon/server/configuration/config_error.hpp"
#include "protocol/throw_errno.hpp"
#include "protocol/transport/free_ranges.hpp"
#include "protocol/transport/guest_memory.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::daemon {

using protocol::SharedMemory;

namespace {

/// Parts of files begin at multiples of this: huge pages of hosts.
constexpr std::uint64_t kPartAlignment = 2U << 20U;

}  // namespace

class GuestMemory::File {
 public:
  File(const std::string& name, std::optional<std::uint64_t> segments)
      : name_(name),
        file_(::open(name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)),
        size_(checked_size()),
        half_(begin_of_segments(size_, segments)),
        segments_size_(std::min(segments.value_or(size_ / 4), size_ - half_) / kPartAlignment *
                       kPartAlignment),
        regions_(half_),
        segments_(size_ - half_),
        head_(protocol::SharedSegment::part_of(file_, 0, protocol::kGuestMemoryHead)),
        id_(protocol::write_guest_memory_head(*head_)) {
    regions_.take(protocol::kGuestMemoryHead);
  }

  bool has(const protocol::Bytes& id) const {
    return std::equal(id.begin(), id.end(), id_.begin(), id_.end());
  }

  /// A region's place.
  std::optional<std::uint64_t> take_region() {
    const auto at = regions_.take(SharedMemory::kBytes);
    if (!at || empty(*at, SharedMemory::kBytes)) return at;
    give_back_region(*at);
    return std::nullopt;
  }
  void give_back_region(std::uint64_t at) { regions_.give_back(at, SharedMemory::kBytes); }
  /// A place for segments.
  std::optional<std::uint64_t> take_segments() {
    if (segments_size_ == 0) return std::nullopt;
    const auto in_half = segments_.take(segments_size_);
    if (!in_half) return std::nullopt;
    const std::uint64_t at = half_ + *in_half;
    if (empty(at, segments_size_)) return at;
    give_back_segments(at);
    return std::nullopt;
  }
  void give_back_segments(std::uint64_t at) { segments_.give_back(at - half_, segments_size_); }
  std::uint64_t segments_size() const { return segments_size_; }

  int descriptor() const { return file_.get(); }

 private:
  /// Where the half for segments begins. One region has room before it in any case.
  static std::uint64_t begin_of_segments(std::uint64_t size, const std::optional<std::uint64_t>& segments) {
    if (segments == std::uint64_t{0}) return size;
    const std::uint64_t half =
        std::max<std::uint64_t>(size / 2, protocol::kGuestMemoryHead + SharedMemory::kBytes);
    return std::min((half + kPartAlignment - 1) / kPartAlignment * kPartAlignment, size);
  }

  /// What an earlier session has left there is none of the next one's business.
  bool empty(std::uint64_t at, std::uint64_t size) const {
    if (::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(at),
                    static_cast<off_t>(size)) == 0)
      return true;
    spdlog::warn("guest-memory: {} cannot be emptied ({}), so a session does without it", name_,
                 error_text(errno));
    return false;
  }

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
  const std::uint64_t size_;
  const std::uint64_t half_;           // where the half for segments begins
  const std::uint64_t segments_size_;  // bytes of a session
  protocol::FreeRanges regions_;
  protocol::FreeRanges segments_;  // from half_ on
  const std::shared_ptr<protocol::SharedSegment> head_;
  const protocol::GuestMemoryId id_;
};

GuestMemory::Region& GuestMemory::Region::operator=(Region&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(at_, other.at_);
  std::swap(segments_at_, other.segments_at_);
  return *this;
}

GuestMemory::Region::~Region() {
  if (!file_) return;
  file_->give_back_region(at_);
  if (segments_at_ != 0) file_->give_back_segments(segments_at_);
}

std::uint64_t GuestMemory::Region::segments_size() const {
  return segments_at_ != 0 ? file_->segments_size() : 0;
}

int GuestMemory::Region::descriptor() const {
  return file_->descriptor();
}

GuestMemory::GuestMemory(const std::vector<std::string>& files, std::optional<std::uint64_t> segments) {
  for (const std::string& name : files) {
    try {
      files_.push_back(std::make_shared<File>(name, segments));
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
  const auto at = (*file)->take_region();
  if (!at) return {};
  return {*file, *at, (*file)->take_segments().value_or(0)};
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
