#include "protocol/printable.hpp"

#include <algorithm>

namespace clique::protocol {

namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

/// The bytes of the character at the text's begin; 0 for a control character, and for what is not UTF-8.
std::size_t printable_character(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t size = first >= 0xc2 && first < 0xe0   ? 2
                           : first >= 0xe0 && first < 0xf0 ? 3
                           : first >= 0xf0 && first < 0xf5 ? 4
                                                           : 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte_at(text, i) & 0xc0U) != 0x80) return 0;
  const unsigned second = byte_at(text, 1);
  // Control characters of ISO 6429 begin with 0xc2. The others are longer than they need be, surrogates, or
  // beyond Unicode.
  const bool wrong = (first == 0xc2 && second < 0xa0) || (first == 0xe0 && second < 0xa0) ||
                     (first == 0xed && second >= 0xa0) || (first == 0xf0 && second < 0x90) ||
                     (first == 0xf4 && second >= 0x90);
  return wrong ? 0 : size;
}

std::string escaped(char character) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (character == '\n') return "\\n";
  if (character == '\t') return "\\t";
  const unsigned byte = static_cast<unsigned char>(character);
  return {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
}

}  // namespace

std::string printable(std::string_view text, std::size_t longest) {
  std::string result;
  std::size_t at = 0;
  while (at < std::min(text.size(), longest)) {
    if (const std::size_t size = printable_character(text.substr(at))) {
      result += text.substr(at, size);
      at += size;
    } else {
      result += escaped(text[at++]);
    }
  }
  if (at < text.size()) result += "… (" + std::to_string(text.size() - at) + " more bytes)";
  return result;
}

}  // namespace clique::protocol
