// The characters of a source after the first translation phases of C (trigraphs, line splices).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clique::protocol {

/// Reads a source, skipping line splices and replacing the trigraphs for # and \. The text must outlive it.
class Cursor {
 public:
  explicit Cursor(std::string_view text, std::size_t at = 0) : text_(text), at_(at), end_(at) { settle(); }

  bool at_end() const { return at_ >= text_.size(); }
  /// The current character; 0 at the end.
  char peek() const;
  void advance();
  /// Where the current character begins in the text.
  std::size_t position() const { return at_; }
  /// Where the previous character ended. There may be line splices in between.
  std::size_t end() const { return end_; }

  bool at_line_end() const { return at_end() || peek() == '\n' || peek() == '\r'; }
  /// Skips white space and comments, but no line break outside of a comment.
  void skip_blank();
  /// The identifier or keyword here; empty if there is none.
  std::string identifier();
  /// The rest of the line, without comments and trailing white space.
  std::string rest_of_line();

 private:
  /// Moves over line splices.
  void settle();
  /// Skips the comment that begins here.
  /// @returns whether it was one that can end within a line, as /* */ does
  bool skip_comment();

  std::string_view text_;
  std::size_t at_;
  std::size_t end_;
};

/// Whether any compiler treats the character as white space within a line. Some treat a 0 and characters
/// beyond ASCII as such; all of these count here, so that no directive is missed.
bool is_blank(char c);
bool is_identifier_character(char c);

}  // namespace clique::protocol
