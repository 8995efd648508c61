// Characters of a source as a compiler's first translation phases leave them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clique::protocol {

/// Reads a source without its line splices, and with the trigraphs for # and \ replaced. The text must
/// outlive it.
class Cursor {
 public:
  explicit Cursor(std::string_view text, std::size_t at = 0) : text_(text), at_(at), end_(at) { settle(); }

  bool at_end() const { return at_ >= text_.size(); }
  /// The present character; 0 at the end.
  char peek() const;
  void advance();
  /// Where the present character begins in the text.
  std::size_t position() const { return at_; }
  /// Where the character before it ended. Line splices may lie between.
  std::size_t end() const { return end_; }

  bool at_line_end() const { return at_end() || peek() == '\n' || peek() == '\r'; }
  /// Skips white space and comments, but no line break outside of a comment.
  void skip_blank();
  /// The identifier or keyword here; empty if there is none.
  std::string identifier();
  /// What follows on the line, without comments and the white space at its end.
  std::string rest_of_line();

 private:
  /// Moves over line splices.
  void settle();
  /// Skips the comment that begins here. @returns whether there is one that ends on its own, as /* */ does
  bool skip_comment();

  std::string_view text_;
  std::size_t at_;
  std::size_t end_;
};

/// Whether compilers take the character for white space within a line. They take a 0 for it, and some
/// characters beyond ASCII. Here all of those count, because a directive must not be missed.
bool is_blank(char c);
bool is_identifier_character(char c);

}  // namespace clique::protocol
