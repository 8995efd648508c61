// Answers of nodes to clGet*Info.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "protocol/descriptions.hpp"

namespace clique::icd {

/// The answer to one query; empty if the node has none.
std::span<const std::byte> property_bytes(const std::vector<protocol::Property>& properties,
                                          std::uint32_t name);
/// The answer as a text, which ends at the first zero.
std::string property_text(const std::vector<protocol::Property>& properties, std::uint32_t name);
/// The answer as a T; T{} if it is too short.
template <typename T>
T property_value(const std::vector<protocol::Property>& properties, std::uint32_t name) {
  T value{};
  const auto bytes = property_bytes(properties, name);
  if (bytes.size() >= sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace clique::icd
