// What other processes wrote, in logs and on terminals.
#include "protocol/printable.hpp"

#include <gtest/gtest.h>

namespace clique::protocol {
namespace {

TEST(Printable, KeepsTextInAllLanguages) {
  for (const char* text : {"", "plain: 'text' \\ 1.5", "Grüße", "日本語", "🙂"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, KeepsEverythingOnOneLine) {
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\x0dd");
}

TEST(Printable, GivesTerminalsNoCommands) {
  EXPECT_EQ(printable("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\xc2\\x9b31m")
      << "the control character of ISO 6429";
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
}

TEST(Printable, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("\x9b"), "\\x9b");
  EXPECT_EQ(printable("\xc3"), "\\xc3") << "cut off";
  EXPECT_EQ(printable("\xc0\x8a"), "\\xc0\\x8a") << "a line break that is longer than it need be";
  EXPECT_EQ(printable("\xe0\x80\x8a"), "\\xe0\\x80\\x8a");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xff"), "\\xff");
}

TEST(Printable, IsBounded) {
  EXPECT_EQ(printable(std::string(10, 'a'), 4), "aaaa… (6 more bytes)");
  EXPECT_EQ(printable("aü", 2), "aü") << "characters stay whole";
  EXPECT_LT(printable(std::string(1U << 20U, '\n')).size(), 5 * kLongestPrintable);
}

}  // namespace
}  // namespace clique::protocol
