#include "icd/common/error.hpp"

#include <array>
#include <charconv>

namespace clique::icd::detail {

void append(std::string& text, std::string_view piece) {
  text += piece;
}

void append(std::string& text, Hex piece) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), piece.value, 16).ptr;
  text += "0x";
  text.append(digits.data(), end);
}

}  // namespace clique::icd::detail
