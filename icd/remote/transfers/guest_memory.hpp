// The memory that this virtual machine shares with its host.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "protocol/transport/guest_memory.hpp"

namespace clique::protocol {
class SharedMemory;
}

namespace clique::icd {

/// Memory that a daemon has marked as its own.
struct GuestMemory {
  std::string file;
  protocol::GuestMemoryId id{};
};

inline constexpr const char* kPciDevices = "/sys/bus/pci/devices";

/// Looks for a device that QEMU calls ivshmem, whose memory this user may map.
/// @param file used instead, if it is not empty: CLIQUE_GUEST_MEMORY
/// @param devices a folder as kPciDevices, which a process lists only once
/// @returns nothing if there is no such memory, or no daemon has marked it
std::optional<GuestMemory> find_guest_memory(const std::string& file,
                                             const std::string& devices = kPciDevices);

/// Takes a session's region, as soon as the worker has prepared it.
/// @param at WorkerAddress::memory_at, which may be anything
/// @returns null if it cannot be used; the connections do the same, but slower
std::shared_ptr<protocol::SharedMemory> take_guest_region(const std::string& file, std::uint64_t at,
                                                          std::chrono::milliseconds timeout);

}  // namespace clique::icd
