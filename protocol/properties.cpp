#include "protocol/properties.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

namespace clique::protocol {

const Bytes* find_property(const std::vector<Property>& properties, std::uint32_t name) {
  const auto found = std::find_if(properties.begin(), properties.end(),
                                  [name](const Property& each) { return each.name == name; });
  return found != properties.end() ? &found->value : nullptr;
}

std::span<const std::byte> property_bytes(const std::vector<Property>& properties, std::uint32_t name) {
  const Bytes* const value = find_property(properties, name);
  if (value == nullptr) return {};
  return std::as_bytes(std::span(*value));
}

std::string property_text(const std::vector<Property>& properties, std::uint32_t name) {
  const auto bytes = property_bytes(properties, name);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

std::string uuid_text(std::span<const std::byte> uuid) {
  constexpr std::size_t kSize = 16;
  if (uuid.size() != kSize) return {};
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < kSize; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    const auto byte = std::to_integer<unsigned>(uuid[i]);
    text += {kDigits[byte >> 4U], kDigits[byte & 15U]};
  }
  return text;
}

std::string pci_text(std::span<const std::byte> info) {
  std::array<std::uint32_t, 4> numbers{};  // domain, bus, device, function
  if (info.size() != sizeof numbers) return {};
  std::memcpy(numbers.data(), info.data(), info.size());
  char text[4 * 8 + 4];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.%x", numbers[0], numbers[1], numbers[2], numbers[3]);
  return text;
}

}  // namespace clique::protocol
