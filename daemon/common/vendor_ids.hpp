// Numbers of vendors.
#pragma once

#include <cstdint>

namespace clique::daemon {

/// CL_DEVICE_VENDOR_ID of NVIDIA's GPUs: the vendor's number on PCI.
inline constexpr std::uint32_t kNvidiaVendor = 0x10de;

}  // namespace clique::daemon
