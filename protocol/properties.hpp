// Reading what drivers answered to clGet*Info, as descriptions contain it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "protocol/descriptions.hpp"

namespace clique::protocol {

/// The answer to one query; null if there is none. @param name cl_device_info and the like
const Bytes* find_property(const std::vector<Property>& properties, std::uint32_t name);
/// The same; empty if there is none.
std::span<const std::byte> property_bytes(const std::vector<Property>& properties, std::uint32_t name);
/// The answer as a text, which ends at the first zero; empty if there is none.
std::string property_text(const std::vector<Property>& properties, std::uint32_t name);
/// The answer as a T; T{} if it is too short.
template <typename T>
T property_value(const std::vector<Property>& properties, std::uint32_t name) {
  T value{};
  const auto bytes = property_bytes(properties, name);
  if (bytes.size() >= sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

/// CL_DEVICE_UUID_KHR as it is written: 01234567-89ab-cdef-0123-456789abcdef. Empty if it has another size
/// than 16 bytes.
std::string uuid_text(std::span<const std::byte> uuid);
/// CL_DEVICE_PCI_BUS_INFO_KHR as it is written: 0000:3b:00.0. Empty if it has another size than four numbers.
std::string pci_text(std::span<const std::byte> info);

}  // namespace clique::protocol
