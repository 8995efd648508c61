#include "icd/remote/properties.hpp"

#include <algorithm>

namespace clique::icd {

std::span<const std::byte> property_bytes(const std::vector<protocol::Property>& properties,
                                          std::uint32_t name) {
  const auto found = std::find_if(properties.begin(), properties.end(),
                                  [name](const protocol::Property& each) { return each.name == name; });
  if (found == properties.end()) return {};
  return std::as_bytes(std::span(found->value));
}

std::string property_text(const std::vector<protocol::Property>& properties, std::uint32_t name) {
  const auto bytes = property_bytes(properties, name);
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.substr(0, text.find('\0'));
}

}  // namespace clique::icd
