#include "icd/remote/transfers/guest_memory.hpp"

#include <fcntl.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "protocol/decode_error.hpp"
#include "protocol/fd.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::icd {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// What a device of QEMU's with shared memory is, and the file with that memory, its second region.
constexpr std::string_view kIvshmemVendor = "0x1af4";
constexpr std::string_view kIvshmemDevice = "0x1110";
constexpr const char* kIvshmemMemory = "resource2";
/// The pause before looking again whether the worker has prepared a region.
constexpr std::chrono::microseconds kLookAgain{200};

std::string first_word(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

std::optional<GuestMemory> marked(const std::string& file) {
  try {
    const Fd memory(::open(file.c_str(), O_RDWR | O_CLOEXEC));
    if (!memory) return std::nullopt;
    const auto head = protocol::SharedSegment::part_of(memory, 0, protocol::kGuestMemoryHead);
    if (const auto id = protocol::read_guest_memory_head(*head)) return GuestMemory{file, *id};
  } catch (const std::exception&) {
    // Another program's memory, or none that can be mapped.
  }
  return std::nullopt;
}

/// The memories of such devices.
std::vector<std::string> memories_of(const std::string& devices) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator each(devices, error), end; !error && each != end; each.increment(error)) {
    const fs::path& device = each->path();
    if (first_word(device / "vendor") == kIvshmemVendor && first_word(device / "device") == kIvshmemDevice)
      found.push_back(device / kIvshmemMemory);
  }
  return found;
}

std::optional<GuestMemory> first_marked(const std::vector<std::string>& files) {
  for (const std::string& file : files)
    if (auto found = marked(file)) return found;
  return std::nullopt;
}

}  // namespace

std::optional<GuestMemory> find_guest_memory(const std::string& file, const std::string& devices) {
  if (!file.empty()) return marked(file);
  if (devices != kPciDevices) return first_marked(memories_of(devices));
  // Every session asks, and most hosts have many devices and none of these.
  static const std::vector<std::string> here = memories_of(devices);
  return first_marked(here);
}

std::shared_ptr<protocol::SharedMemory> take_guest_region(const std::string& file, std::uint64_t at,
                                                          std::chrono::milliseconds timeout) {
  try {
    const Fd memory(::open(file.c_str(), O_RDWR | O_CLOEXEC));
    if (!memory || at < protocol::kGuestMemoryHead) return nullptr;
    const auto region = protocol::SharedSegment::part_of(memory, at, protocol::SharedMemory::kBytes);
    for (const auto deadline = Clock::now() + timeout;;) {
      try {
        auto shared = protocol::SharedMemory::open_in(region);
        shared->take_possession();
        return shared;
      } catch (const protocol::DecodeError&) {
        if (Clock::now() > deadline) return nullptr;
      }
      std::this_thread::sleep_for(kLookAgain);
    }
  } catch (const std::exception&) {
    return nullptr;
  }
}

}  // namespace clique::icd
