#include "daemon/compiler/contract/printf_format.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "daemon/compiler/library/abi.h"

namespace clique::daemon::compiler {

namespace {

/// Maximum digits of a field width or precision. Larger ones are mistakes and would use up the worker's
/// memory.
constexpr std::size_t kLongestNumber = 4;

/// Bytes of text, after which the rest of a buffer is not printed: few bytes of a kernel's may ask for wide
/// fields without end.
constexpr std::size_t kMostText = 64U << 20U;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Parses one format from left to right.
class FormatReader {
 public:
  explicit FormatReader(std::string_view format) : rest_(format) {}

  std::vector<PrintfPiece> read() {
    std::string text;
    while (!rest_.empty()) {
      if (rest_.front() != '%') {
        text.push_back(rest_.front());
        rest_.remove_prefix(1);
      } else if (rest_.starts_with("%%")) {
        text.push_back('%');
        rest_.remove_prefix(2);
      } else {
        const std::string_view begin = rest_;
        PrintfPiece piece;
        if (conversion(piece)) {
          piece.text = std::exchange(text, {});
          pieces_.push_back(std::move(piece));
        } else {
          rest_ = begin.substr(1);
          text.push_back('%');
        }
      }
    }
    if (!text.empty()) pieces_.emplace_back().text = std::move(text);
    return std::move(pieces_);
  }

 private:
  bool conversion(PrintfPiece& piece) {
    rest_.remove_prefix(1);
    piece.flags =
        take_while([](char c) { return std::string_view("-+ #0").find(c) != std::string_view::npos; });
    piece.width = take_while(is_digit);
    if (take(".")) {
      piece.has_precision = true;
      piece.precision = take_while(is_digit);
    }
    if (piece.width.size() > kLongestNumber || piece.precision.size() > kLongestNumber) return false;
    if (take("v") && !vector_size(piece)) return false;
    length(piece);
    if (rest_.empty()) return false;
    piece.conversion = rest_.front();
    rest_.remove_prefix(1);
    const std::string_view of_vectors = "diouxXfFeEgGaA";
    const std::string_view of_scalars = "csp";
    return of_vectors.find(piece.conversion) != std::string_view::npos ||
           (piece.elements == 1 && of_scalars.find(piece.conversion) != std::string_view::npos);
  }

  bool vector_size(PrintfPiece& piece) {
    const std::string size = take_while(is_digit);
    for (const unsigned known : {2U, 3U, 4U, 8U, 16U})
      if (size == std::to_string(known)) {
        piece.elements = known;
        return true;
      }
    return false;
  }

  void length(PrintfPiece& piece) {
    using Length = PrintfPiece::Length;
    if (take("hh")) {
      piece.length = Length::Char;
    } else if (take("hl")) {
      piece.length = Length::Int;
    } else if (take("h")) {
      piece.length = Length::Short;
    } else if (take("ll") || take("l") || take("j") || take("z") || take("t")) {
      piece.length = Length::Long;
    }
  }

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  template <typename Predicate>
  std::string take_while(Predicate wanted) {
    const auto end = std::find_if_not(rest_.begin(), rest_.end(), wanted);
    std::string taken(rest_.begin(), end);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  std::string_view rest_;
  std::vector<PrintfPiece> pieces_;
};

/// Appends one value, formatted by snprintf.
template <typename T>
void print(std::string& to, const std::string& format, T value) {
  const int size = std::snprintf(nullptr, 0, format.c_str(), value);
  if (size <= 0) return;
  const std::size_t begin = to.size();
  to.resize(begin + static_cast<std::size_t>(size) + 1);
  std::snprintf(to.data() + begin, static_cast<std::size_t>(size) + 1, format.c_str(), value);
  to.pop_back();
}

std::int64_t sign_extended(std::uint64_t bits, PrintfPiece::Length length) {
  switch (length) {
    case PrintfPiece::Length::Char:
      return static_cast<std::int8_t>(bits);
    case PrintfPiece::Length::Short:
      return static_cast<std::int16_t>(bits);
    case PrintfPiece::Length::Long:
      return static_cast<std::int64_t>(bits);
    default:
      return static_cast<std::int32_t>(bits);
  }
}

std::uint64_t zero_extended(std::uint64_t bits, PrintfPiece::Length length) {
  switch (length) {
    case PrintfPiece::Length::Char:
      return static_cast<std::uint8_t>(bits);
    case PrintfPiece::Length::Short:
      return static_cast<std::uint16_t>(bits);
    case PrintfPiece::Length::Long:
      return bits;
    default:
      return static_cast<std::uint32_t>(bits);
  }
}

/// Formats the arguments of one record.
class RecordPrinter {
 public:
  RecordPrinter(const ProgramBinary& program, std::span<const std::byte> arguments)
      : program_(program), arguments_(arguments) {}

  std::string print_all(const std::string& format) {
    for (const PrintfPiece& piece : parse_printf_format(format)) {
      if (text_.size() > kMostText) break;
      text_ += piece.text;
      for (unsigned i = 0; piece.conversion != 0 && i < piece.elements; ++i) {
        if (i != 0) text_ += ',';
        print_one(piece);
      }
    }
    return std::move(text_);
  }

 private:
  std::uint64_t next() {
    std::uint64_t bits = 0;
    if (arguments_.size() < sizeof bits) return 0;
    std::memcpy(&bits, arguments_.data(), sizeof bits);
    arguments_ = arguments_.subspan(sizeof bits);
    return bits;
  }

  void print_one(const PrintfPiece& piece) {
    const std::uint64_t bits = next();
    std::string format = "%" + piece.flags + piece.width;
    if (piece.has_precision) format += "." + piece.precision;
    switch (piece.conversion) {
      case 'd':
      case 'i':
        print(text_, format + "lld", static_cast<long long>(sign_extended(bits, piece.length)));
        break;
      case 'o':
      case 'u':
      case 'x':
      case 'X':
        print(text_, format + "ll" + piece.conversion,
              static_cast<unsigned long long>(zero_extended(bits, piece.length)));
        break;
      case 'c':
        print_character(piece, static_cast<char>(bits));
        break;
      case 's':
        print(text_, format + "s",
              bits < program_.strings.size() ? program_.strings[bits].c_str() : "(null)");
        break;
      case 'p':
        // NOLINTNEXTLINE(performance-no-int-to-ptr): only printed
        print(text_, format + "p", reinterpret_cast<const void*>(bits));
        break;
      default: {
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        print(text_, format + piece.conversion, value);
      }
    }
  }

  /// Does not use snprintf, because the character may be 0, which would end the string.
  void print_character(const PrintfPiece& piece, char character) {
    const std::size_t width = piece.width.empty() ? 0 : std::stoul(piece.width);
    const std::string padding(width > 1 ? width - 1 : 0, ' ');
    const bool left = piece.flags.find('-') != std::string::npos;
    if (!left) text_ += padding;
    text_ += character;
    if (left) text_ += padding;
  }

  const ProgramBinary& program_;
  std::span<const std::byte> arguments_;
  std::string text_;
};

}  // namespace

std::vector<PrintfPiece> parse_printf_format(std::string_view format) {
  return FormatReader(format).read();
}

std::string format_printf(const ProgramBinary& program, std::span<const std::byte> record) {
  clique_printf_record header{};
  if (record.size() < sizeof header) return {};
  std::memcpy(&header, record.data(), sizeof header);
  if (header.format >= program.formats.size()) return {};
  return RecordPrinter(program, record.subspan(sizeof header)).print_all(program.formats[header.format]);
}

std::string format_printf_buffer(const ProgramBinary& program, std::span<const std::byte> buffer) {
  clique_printf_buffer header{};
  if (buffer.size() < sizeof header) return {};
  std::memcpy(&header, buffer.data(), sizeof header);
  auto records = buffer.subspan(sizeof header);
  records = records.first(std::min<std::size_t>({records.size(), header.used, header.capacity}));
  std::string text;
  clique_printf_record record{};
  while (records.size() >= sizeof record && text.size() <= kMostText) {
    std::memcpy(&record, records.data(), sizeof record);
    // A record that did not fit has size 0 and is the last one.
    if (record.size < sizeof record || record.size > records.size()) break;
    text += format_printf(program, records.first(record.size));
    records = records.subspan(record.size);
  }
  return text;
}

}  // namespace clique::daemon::compiler
