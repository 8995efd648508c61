#include "daemon/compiler/contract/printf_format.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "daemon/compiler/library/abi.h"

namespace clique::daemon::compiler {
namespace {

struct Slot {
  std::uint64_t bits;
  Slot(int value) : bits(static_cast<std::uint64_t>(std::int64_t{value})) {}  // NOLINT
  Slot(long value) : bits(static_cast<std::uint64_t>(value)) {}               // NOLINT
  Slot(unsigned long value) : bits(value) {}                                  // NOLINT
  Slot(double value) : bits(std::bit_cast<std::uint64_t>(value)) {}           // NOLINT
};

std::vector<std::byte> record_of(std::uint32_t format, const std::vector<Slot>& slots) {
  const clique_printf_record header{static_cast<std::uint32_t>(sizeof header + 8 * slots.size()), format};
  std::vector<std::byte> record(header.size);
  std::memcpy(record.data(), &header, sizeof header);
  if (!slots.empty()) std::memcpy(record.data() + sizeof header, slots.data(), 8 * slots.size());
  return record;
}

std::string printed(const std::string& format, const std::vector<Slot>& slots = {}) {
  ProgramBinary program;
  program.formats = {format};
  program.strings = {"zero", "one"};
  return format_printf(program, record_of(0, slots));
}

TEST(PrintfFormat, GivenTextWhenPrintedThenItIsAsWritten) {
  EXPECT_EQ(printed("plain\n"), "plain\n");
  EXPECT_EQ(printed(""), "");
  EXPECT_EQ(printed("100%% of %%d"), "100% of %d");
}

TEST(PrintfFormat, GivenIntegersWhenPrintedThenTheirLengthCounts) {
  EXPECT_EQ(printed("%d %i", {-1, 7}), "-1 7");
  EXPECT_EQ(printed("%u", {-1}), "4294967295");
  EXPECT_EQ(printed("%ld %lu", {-5000000000L, -1}), "-5000000000 18446744073709551615");
  EXPECT_EQ(printed("%hd %hu %hhd %hhu", {65535, -1, 255, -1}), "-1 65535 -1 255");
  EXPECT_EQ(printed("%x %X %o %#x %#o", {255, 255, 8, 255, 8}), "ff FF 10 0xff 010");
}

TEST(PrintfFormat, GivenFlagsWidthAndPrecisionWhenPrintedThenTheyAreKept) {
  EXPECT_EQ(printed("[%5d|%-5d|%05d|%+d|% d|%.3d|%6.3d]", {42, 42, 42, 42, 42, 7, 7}),
            "[   42|42   |00042|+42| 42|007|   007]");
  EXPECT_EQ(printed("[%8.2f|%-8.1f|%+.0f|%08.3f]", {3.14159, 2.5, 7.0, -1.5}),
            "[    3.14|2.5     |+7|-001.500]");
}

TEST(PrintfFormat, GivenNumbersWithFractionsWhenPrintedThenAllConversionsWork) {
  EXPECT_EQ(printed("%f %e %g %a", {1.5, 1.5, 1.5, 1.0}), "1.500000 1.500000e+00 1.5 0x1p+0");
  EXPECT_EQ(printed("%F %E %G %A", {1.0 / 0.0, 1.5, 1e-10, 1.0}), "INF 1.500000E+00 1E-10 0X1P+0");
  EXPECT_EQ(printed("%f %f", {1.0 / 0.0, -1.0 / 0.0}), "inf -inf");
  EXPECT_EQ(printed("%lf", {0.25}), "0.250000");
}

TEST(PrintfFormat, GivenVectorsWhenPrintedThenElementsAreBetweenCommas) {
  EXPECT_EQ(printed("%v4hld", {1, -2, 3, -4}), "1,-2,3,-4");
  EXPECT_EQ(printed("%v2lu|%v3hhd", {1, -1, 255, 1, 2}), "1,18446744073709551615|-1,1,2");
  EXPECT_EQ(printed("%4.1v2hlf", {1.0, 2.0}), " 1.0, 2.0");
  EXPECT_EQ(printed("%v4f", {1.0, 2.0, 3.0, 4.0}), "1.000000,2.000000,3.000000,4.000000");
  EXPECT_EQ(printed("%5v2hlx", {10, 11}), "    a,    b");
  EXPECT_EQ(printed("%v8hd", {1, 2, 3, 4, 5, 6, 7, 8}), "1,2,3,4,5,6,7,8");
  EXPECT_EQ(printed("%v16hhu", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}),
            "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16");
}

TEST(PrintfFormat, GivenCharactersStringsAndPointersWhenPrintedThenTheyAreThemselves) {
  EXPECT_EQ(printed("%c%c [%3c|%-3c]", {'o', 'k', 'x', 'y'}), "ok [  x|y  ]");
  EXPECT_EQ(printed("%c", {0}), std::string(1, '\0'));
  EXPECT_EQ(printed("%s %5s %.2s", {1, 1, 0}), "one   one ze");
  EXPECT_EQ(printed("%s", {99}), "(null)");
  EXPECT_EQ(printed("%s", {~0UL}), "(null)");
  EXPECT_EQ(printed("%p", {0x1234L}), "0x1234");
}

TEST(PrintfFormat, GivenWhatIsNoConversionWhenPrintedThenItStaysText) {
  EXPECT_EQ(printed("%y %"), "%y %");
  EXPECT_EQ(printed("%v5d"), "%v5d");
  EXPECT_EQ(printed("%n"), "%n");
  EXPECT_EQ(printed("%v4s"), "%v4s");
  EXPECT_EQ(printed("%999999999d"), "%999999999d");
}

TEST(PrintfFormat, GivenDamagedRecordsWhenPrintedThenNothingBadHappens) {
  ProgramBinary program;
  program.formats = {"%d"};
  EXPECT_EQ(format_printf(program, {}), "");
  EXPECT_EQ(format_printf(program, record_of(7, {})), "");
  EXPECT_EQ(format_printf(program, record_of(0, {})), "0");
}

TEST(PrintfFormat, GivenBufferWhenPrintedThenCompleteRecordsAre) {
  ProgramBinary program;
  program.formats = {"a%d", "b"};
  std::vector<std::byte> buffer(sizeof(clique_printf_buffer));
  for (const auto& record : {record_of(0, {1}), record_of(1, {}), record_of(0, {2})})
    buffer.insert(buffer.end(), record.begin(), record.end());
  clique_printf_buffer header{static_cast<std::uint32_t>(buffer.size() - sizeof header), 1000};
  std::memcpy(buffer.data(), &header, sizeof header);
  EXPECT_EQ(format_printf_buffer(program, buffer), "a1ba2");

  header = {1'000'000, 24};
  std::memcpy(buffer.data(), &header, sizeof header);
  EXPECT_EQ(format_printf_buffer(program, buffer), "a1b");
  EXPECT_EQ(format_printf_buffer(program, std::span(buffer).first(8)), "");
  EXPECT_EQ(format_printf_buffer(program, std::span(buffer).first(20)), "");

  const clique_printf_record nothing{0, 0};
  std::memcpy(buffer.data() + sizeof header, &nothing, sizeof nothing);
  EXPECT_EQ(format_printf_buffer(program, buffer), "");
}

TEST(PrintfFormat, GivenWideFieldsWithoutEndWhenPrintedThenTheTextEnds) {
  constexpr std::size_t kMost = 65U << 20U;
  ProgramBinary program;
  program.formats = {"%9999d", ""};
  for (int i = 0; i < 10'000; ++i) program.formats[1] += "%9999d";
  std::vector<std::byte> buffer(sizeof(clique_printf_buffer));
  for (int i = 0; i < 10'000; ++i) {
    const auto record = record_of(0, {});
    buffer.insert(buffer.end(), record.begin(), record.end());
  }
  const clique_printf_buffer header{1'000'000, 1'000'000};
  std::memcpy(buffer.data(), &header, sizeof header);
  EXPECT_LT(format_printf_buffer(program, buffer).size(), kMost);
  EXPECT_LT(format_printf(program, record_of(1, {})).size(), kMost);
}

}  // namespace
}  // namespace clique::daemon::compiler
