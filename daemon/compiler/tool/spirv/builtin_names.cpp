#include "daemon/compiler/tool/spirv/builtin_names.hpp"

#include <charconv>
#include <memory>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "daemon/compiler/tool/common/address_spaces.hpp"

namespace clique::daemon::compiler {

namespace {

/// Thrown when a name does not have the expected form.
class Unknown : public std::exception {};

/// A parameter's type: a letter or name, or a prefix such as "P" with the type that follows. A pointer's
/// target always has a node for its qualifiers, even if the address space is not written (0).
struct Type {
  std::string text;
  std::shared_ptr<const Type> of;
  /// Whether repetitions refer to the first occurrence.
  bool counted = true;

  /// A text that only equal types have in common.
  std::string key() const { return of ? (text.empty() ? "U" : text) + of->key() : text; }
};

using TypePtr = std::shared_ptr<const Type>;

TypePtr make(std::string text, TypePtr of, bool counted = true) {
  return std::make_shared<const Type>(Type{std::move(text), std::move(of), counted});
}

/// The reference to an earlier part of the name, numbered in base 36: S_, S0_, … SZ_, S10_.
std::string reference(std::size_t index) {
  if (index == 0) return "S_";
  std::string digits;
  for (std::size_t rest = index - 1; digits.empty() || rest != 0; rest /= 36)
    digits.insert(digits.begin(), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[rest % 36]);
  return "S" + digits + "_";
}

/// Parses the types of the parameters and translates their address spaces to NVPTX's.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }

  TypePtr type() {
    if (take("S")) return referred();
    if (take("P")) return counted("P", pointee());
    if (take("U7_Atomic")) return counted("U7_Atomic", type());
    if (take("Dv")) return vector();
    if (take("Dh")) return make("Dh", nullptr, false);
    if (!rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9') return counted(named(), nullptr);
    return letter();
  }

 private:
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  unsigned number() {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) throw Unknown();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  TypePtr counted(std::string text, TypePtr of) {
    seen_.push_back(make(std::move(text), std::move(of)));
    return seen_.back();
  }

  TypePtr referred() {
    std::size_t index = 0;
    if (!take("_")) {
      for (; !rest_.empty() && rest_[0] != '_'; rest_.remove_prefix(1)) {
        const char c = rest_[0];
        if (c >= '0' && c <= '9')
          index = index * 36 + static_cast<std::size_t>(c - '0');
        else if (c >= 'A' && c <= 'Z')
          index = index * 36 + static_cast<std::size_t>(c - 'A') + 10;
        else
          throw Unknown();
      }
      if (!take("_")) throw Unknown();
      ++index;
    }
    if (index >= seen_.size()) throw Unknown();
    return seen_[index];
  }

  /// A pointer's target. The translator numbers targets with the address spaces of SPIR.
  TypePtr pointee() {
    if (take("S")) {
      const TypePtr known = referred();
      return known->of && is_qualifier(known->text) ? known : make("", known);
    }
    const std::size_t length = rest_.size();
    std::string qualifiers = read_qualifiers();
    if (rest_.size() == length) return make("", type());
    TypePtr inner = type();
    return counted(std::move(qualifiers), std::move(inner));
  }

  TypePtr vector() {
    const unsigned elements = number();
    if (!take("_")) throw Unknown();
    return counted("Dv" + std::to_string(elements) + "_", type());
  }

  static bool is_qualifier(std::string_view text) {
    return text.starts_with("U3AS") || text.find_first_not_of("rVK") == std::string_view::npos;
  }

  /// Qualifiers such as "U3AS1VK", without the address space if that is NVPTX's generic one.
  std::string read_qualifiers() {
    std::string result;
    if (take("U3AS")) {
      // "3AS1": the name has three characters, so that the number has one digit.
      if (rest_.empty() || rest_[0] < '0' || rest_[0] > '9') throw Unknown();
      const unsigned space = nvptx_space(static_cast<unsigned>(rest_[0] - '0'));
      rest_.remove_prefix(1);
      if (space != kGenericSpace) result += "U3AS" + std::to_string(space);
    }
    while (!rest_.empty() && (rest_[0] == 'r' || rest_[0] == 'V' || rest_[0] == 'K')) {
      result += rest_[0];
      rest_.remove_prefix(1);
    }
    return result;
  }

  std::string named() {
    const char* const begin = rest_.data();
    const unsigned length = number();
    if (length > rest_.size()) throw Unknown();
    rest_.remove_prefix(length);
    return {begin, rest_.data()};
  }

  TypePtr letter() {
    constexpr std::string_view kLetters = "vbcahstijlmxyfdz";
    if (rest_.empty() || kLetters.find(rest_[0]) == std::string_view::npos) throw Unknown();
    const std::string text(1, rest_[0]);
    rest_.remove_prefix(1);
    return make(text, nullptr, false);
  }

  std::string_view rest_;
  std::vector<TypePtr> seen_;
};

/// Writes types as the C++ ABI mangles them.
class Writer {
 public:
  void add(const Type& type) {
    const std::string key = type.key();
    if (const auto known = seen_.find(key); known != seen_.end()) {
      text_ += reference(known->second);
      return;
    }
    text_ += type.text;
    if (type.of) add(*type.of);
    if (type.counted) seen_.emplace(key, seen_.size());
  }

  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::unordered_map<std::string, std::size_t> seen_;
};

}  // namespace

unsigned nvptx_space(unsigned spir) {
  switch (spir) {
    case kSpirPrivate:
    case kSpirGeneric:
      return kGenericSpace;
    case kSpirGlobal:
    case kSpirConstant:
      return kGlobalSpace;
    case kSpirLocal:
      return kSharedSpace;
    default:
      throw std::runtime_error("the program uses SPIR address space " + std::to_string(spir) +
                               ", which the device does not have");
  }
}

std::string nvptx_builtin_name(std::string_view spir) {
  std::size_t length = 0;
  if (!spir.starts_with("_Z")) return std::string(spir);
  const auto [end, error] = std::from_chars(spir.data() + 2, spir.data() + spir.size(), length);
  const auto begin = static_cast<std::size_t>(end - spir.data());
  if (error != std::errc() || length > spir.size() - begin) return std::string(spir);
  try {
    Reader reader(spir.substr(begin + length));
    Writer writer;
    while (!reader.at_end()) writer.add(*reader.type());
    return std::string(spir.substr(0, begin + length)) + writer.text();
  } catch (const Unknown&) {
    return std::string(spir);
  }
}

}  // namespace clique::daemon::compiler
