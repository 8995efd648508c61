#include "protocol/sources/cursor.hpp"

#include <algorithm>

namespace clique::protocol {

namespace {
constexpr std::string_view kTrigraphHash = "?\?=";
constexpr std::string_view kTrigraphBackslash = "?\?/";
}  // namespace

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\v' || c == '\f' || c == '\0' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_identifier_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

char Cursor::peek() const {
  if (at_end()) return '\0';
  const std::string_view rest = text_.substr(at_);
  if (rest.starts_with(kTrigraphHash)) return '#';
  if (rest.starts_with(kTrigraphBackslash)) return '\\';
  return rest.front();
}

void Cursor::advance() {
  if (at_end()) return;
  const std::string_view rest = text_.substr(at_);
  at_ += rest.starts_with(kTrigraphHash) || rest.starts_with(kTrigraphBackslash) ? 3 : 1;
  end_ = at_;
  settle();
}

void Cursor::settle() {
  for (;;) {
    const std::string_view rest = text_.substr(std::min(at_, text_.size()));
    std::size_t next = rest.starts_with('\\') ? 1 : rest.starts_with(kTrigraphBackslash) ? 3 : 0;
    if (next == 0) return;
    while (next < rest.size() && is_blank(rest[next])) ++next;
    const std::string_view after = rest.substr(next);
    const std::size_t line_break = after.starts_with("\r\n")                            ? 2
                                   : after.starts_with('\n') || after.starts_with('\r') ? 1
                                                                                        : 0;
    if (line_break == 0) return;
    at_ += next + line_break;
  }
}

bool Cursor::skip_comment() {
  if (peek() != '/') return false;
  Cursor inside = *this;
  inside.advance();
  if (inside.peek() != '*') return false;
  inside.advance();
  bool star = false;
  while (!inside.at_end()) {
    const char c = inside.peek();
    inside.advance();
    if (star && c == '/') break;
    star = c == '*';
  }
  *this = inside;
  return true;
}

void Cursor::skip_blank() {
  while (!at_end() && (skip_comment() || is_blank(peek()))) {
    if (!at_end() && is_blank(peek())) advance();
  }
}

std::string Cursor::identifier() {
  std::string name;
  for (; !at_end() && is_identifier_character(peek()); advance()) name += peek();
  return name;
}

std::string Cursor::rest_of_line() {
  std::string line;
  char quote = 0;
  std::size_t kept_end = end_;
  while (!at_line_end()) {
    if (quote == 0 && skip_comment()) {
      line += ' ';
      continue;
    }
    const char c = peek();
    if (quote == 0 && c == '/') {
      Cursor next = *this;
      next.advance();
      if (next.peek() == '/') break;
    }
    if (quote != 0 && c == '\\') {
      line += c;
      advance();
      if (at_line_end()) break;
      line += peek();
      advance();
      continue;
    }
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    }
    line += c;
    advance();
    if (!is_blank(c)) kept_end = end_;
  }
  end_ = kept_end;
  const std::size_t last = line.find_last_not_of(" \t\v\f");
  line.resize(last == std::string::npos ? 0 : last + 1);
  return line;
}

}  // namespace clique::protocol
