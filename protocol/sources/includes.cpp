#include "protocol/sources/includes.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "protocol/limits.hpp"
#include "protocol/sources/cursor.hpp"

namespace clique::protocol {

namespace {

/// Whether a # at `at` may begin a directive: only white space and comments precede it on its line. What the
/// text before a comment's end was is not looked at.
bool begins_line(std::string_view source, std::size_t at) {
  while (at > 0 && is_blank(source[at - 1])) --at;
  if (at == 0) return true;
  const char before = source[at - 1];
  if (before == '\n' || before == '\r') return true;
  // The end of a comment; its two characters may be on two lines.
  return before == '/' && at > 1 &&
         (source[at - 2] == '*' || source[at - 2] == '\n' || source[at - 2] == '\r');
}

/// Bytes that a reader looks at again and again. Each place is read once, unless comments or lines that go on
/// after their end contain other places.
class Work {
 public:
  explicit Work(std::string_view source) : left_(kPerByte * source.size() + kInAddition) {}
  void spend(std::size_t bytes) {
    if (bytes > left_)
      throw TooMuchIncluded(
          "a source has too many directives within comments or within lines that go on after their end");
    left_ -= bytes;
  }

 private:
  static constexpr std::size_t kPerByte = 4;
  static constexpr std::size_t kInAddition = 1 * kMiB;
  std::size_t left_;
};

/// Calls function(keyword, cursor behind the keyword) for each directive. The function moves the cursor
/// behind what it reads.
template <typename Function>
void for_each_directive(std::string_view source, Function&& function) {
  Work work(source);
  for (std::size_t at = 0; (at = source.find_first_of("#%?", at)) != std::string_view::npos; ++at) {
    const std::string_view rest = source.substr(at);
    std::size_t width = 0;
    for (const std::string_view hash :
         {std::string_view("#"), std::string_view("%:"), std::string_view("?\?=")})
      if (rest.starts_with(hash)) width = hash.size();
    // The two characters of %: may be on two lines.
    if (width == 0 && rest.starts_with('%')) {
      Cursor second(source, at);
      second.advance();
      if (second.peek() == ':') width = second.position() + 1 - at;
    }
    if (width == 0 || !begins_line(source, at)) continue;
    Cursor cursor(source, at + width);
    cursor.skip_blank();
    const std::string keyword = cursor.identifier();
    if (!keyword.empty()) function(keyword, cursor);
    work.spend(cursor.position() - at);
  }
}

/// The name between the quotes or brackets at the cursor; nothing if it does not end on the line.
std::optional<Include> named(Cursor& cursor) {
  const char open = cursor.peek();
  if (open != '"' && open != '<') return std::nullopt;
  Include include;
  include.form = open == '"' ? Include::Form::Quoted : Include::Form::Angled;
  include.begin = cursor.position();
  const char close = open == '"' ? '"' : '>';
  for (cursor.advance(); !cursor.at_line_end() && cursor.peek() != close; cursor.advance())
    include.name += cursor.peek();
  if (cursor.at_line_end()) return std::nullopt;
  cursor.advance();
  include.end = cursor.end();
  return include;
}

std::optional<Include> operand_of_directive(Cursor& cursor) {
  cursor.skip_blank();
  if (Cursor inside = cursor; auto include = named(inside)) {
    cursor = inside;
    return include;
  }
  if (cursor.at_line_end()) return std::nullopt;
  Include include;
  include.form = Include::Form::Computed;
  include.begin = cursor.position();
  include.name = cursor.rest_of_line();
  include.end = cursor.end();
  if (include.name.empty()) return std::nullopt;
  return include;
}

/// The operand between the parentheses that follow.
std::optional<Include> operand_of_query(Cursor& cursor) {
  cursor.skip_blank();
  if (cursor.peek() != '(') return std::nullopt;
  cursor.advance();
  cursor.skip_blank();
  if (Cursor inside = cursor; auto include = named(inside)) {
    cursor = inside;
    return include;
  }
  Include include;
  include.form = Include::Form::Computed;
  include.begin = cursor.position();
  for (int open = 1; !cursor.at_line_end(); cursor.advance()) {
    if (cursor.peek() == '(') ++open;
    if (cursor.peek() == ')' && --open == 0) break;
    include.name += cursor.peek();
  }
  include.end = cursor.end();
  if (include.name.empty() || include.end <= include.begin) return std::nullopt;
  return include;
}

void find_queries(std::string_view source, std::vector<Include>& includes) {
  constexpr std::string_view kPrefix = "__has_";
  Work work(source);
  for (std::size_t at = 0; (at = source.find(kPrefix, at)) != std::string_view::npos; at += kPrefix.size()) {
    if (at > 0 && is_identifier_character(source[at - 1])) continue;
    Cursor cursor(source, at);
    const std::string name = cursor.identifier();
    const bool next = name == "__has_include_next";
    if (!next && name != "__has_include" && name != "__has_embed") continue;
    if (auto include = operand_of_query(cursor)) {
      include->next = next;
      includes.push_back(std::move(*include));
    }
    work.spend(cursor.position() - at);
  }
}

}  // namespace

std::vector<Include> find_includes(std::string_view source) {
  std::vector<Include> includes;
  for_each_directive(source, [&](const std::string& keyword, Cursor& cursor) {
    constexpr std::array<std::string_view, 4> kKeywords{"include", "include_next", "import", "embed"};
    if (std::find(kKeywords.begin(), kKeywords.end(), keyword) == kKeywords.end()) return;
    if (auto include = operand_of_directive(cursor)) {
      include->next = keyword == "include_next";
      includes.push_back(std::move(*include));
    }
  });
  find_queries(source, includes);
  std::sort(includes.begin(), includes.end(),
            [](const Include& a, const Include& b) { return a.begin < b.begin; });
  // Of places that overlap, as no valid source has them, the first one counts.
  std::size_t end = 0;
  std::erase_if(includes, [&](const Include& include) {
    if (include.begin < end) return true;
    end = include.end;
    return false;
  });
  return includes;
}

std::vector<std::string> find_definitions(std::string_view source) {
  std::vector<std::string> definitions;
  for_each_directive(source, [&](const std::string& keyword, Cursor& cursor) {
    if (keyword != "define") return;
    cursor.skip_blank();
    definitions.push_back(cursor.rest_of_line());
  });
  return definitions;
}

}  // namespace clique::protocol
