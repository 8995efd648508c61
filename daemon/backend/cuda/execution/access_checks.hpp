#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/backend/cuda/gpu/memory.hpp"
#include "protocol/messages/commands.hpp"

namespace clique::daemon::cuda {

/// What one launch is expected to access, for a kernel that checks that, and what the kernel has found.
class AccessChecks {
 public:
  /// An argument of the launch that is a buffer or an image.
  struct Argument {
    std::uint32_t number = 0;
    CUdeviceptr begin = 0;   ///< of a buffer, or an image over one; 0: there is no linear memory
    std::uint64_t size = 0;  ///< bytes
    CUdeviceptr image = 0;   ///< of an image, its clique_image
  };

  /// Copies the ranges to the GPU, and waits for that. Main thread. Throws ClError.
  /// @param arguments for each entry of `expected`, its argument
  /// @param expected within the arguments
  /// @param host pinned memory, of kFetched bytes
  AccessChecks(DeviceMemory& memory, std::vector<Argument> arguments,
               const std::vector<protocol::ExpectedAccess>& expected, std::shared_ptr<std::byte> host);

  /// Bytes that fetch() copies.
  static const std::size_t kFetched;

  /// Of the clique_access_checks.
  CUdeviceptr address() const { return *device_; }
  /// Puts into the stream, after the kernel, a copy of what it has found to the host.
  void fetch(CUstream stream) const;
  /// The first access that was not expected, and the number of all, for people; empty if there is none. After
  /// the stream has reached fetch(). Any thread.
  std::string found() const;

 private:
  std::string place_of(std::uint64_t image, std::uint64_t address) const;

  std::vector<Argument> arguments_;
  std::shared_ptr<std::byte> host_;
  std::shared_ptr<const CUdeviceptr> device_;
};

}  // namespace clique::daemon::cuda
