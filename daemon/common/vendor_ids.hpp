// Numbers and names of vendors.
#pragma once

#include <cstdint>

namespace clique::daemon {

/// CL_DEVICE_VENDOR_ID of NVIDIA's GPUs: the vendor's number on PCI.
inline constexpr std::uint32_t kNvidiaVendor = 0x10de;
/// CL_PLATFORM_VENDOR and CL_DEVICE_VENDOR of NVIDIA's own driver, and so of its GPUs through CUDA.
inline constexpr const char* kNvidiaName = "NVIDIA Corporation";

}  // namespace clique::daemon
