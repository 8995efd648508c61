// Host memory of the library, and content in host memory on its way to a worker.
#pragma once

#include <cstddef>
#include <memory>

#include "icd/core/transfers/layout.hpp"
#include "protocol/messages/message.hpp"

namespace clique::icd {

/// A block of host memory of the library: the content of COPY_HOST_PTR, a mapped region, packed rows.
using HostBlock = std::shared_ptr<std::byte[]>;
/// An uninitialised block of `size` bytes, aligned for any OpenCL type. Throws Error(CL_OUT_OF_HOST_MEMORY).
HostBlock allocate_host_block(std::size_t size);

/// Content in host memory that a command writes to a memory object.
struct HostContent {
  const std::byte* data;
  Pitches pitches = {};  ///< ignored for plain ranges
  /// Keeps `data` alive; empty if the application does.
  std::shared_ptr<const void> owner = {};
  /// Whether the bytes have to be copied before the call returns.
  bool copy = false;
};

/// The payload for a part of the content: refers to the part's bytes if they have no gaps, else to a packed
/// copy.
/// @param at the part's first byte.
/// @param bytes its extent, x in bytes.
protocol::Payload payload(const HostContent& content, const std::byte* at, const protocol::Triple& bytes);

}  // namespace clique::icd
