// CLIQUE_VENDOR and CLIQUE_LOCAL_MEMORY.
#include "icd/common/program_choices.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "icd/common/settings.hpp"

namespace clique::icd {
namespace {

bool native(const char* choice, const char* program) {
  return VendorChoice::parse(choice, "CLIQUE_VENDOR").is_native_for(program);
}

TEST(VendorChoice, GivenChoiceThenItIsNativeForThesePrograms) {
  EXPECT_FALSE(native("clique", "hashcat"));
  EXPECT_TRUE(native("native", "anything"));
  EXPECT_TRUE(native("native:known", "hashcat"));
  EXPECT_FALSE(native("native:known", "anything"));
  EXPECT_TRUE(native("native: one, known ,two", "two"));
  EXPECT_TRUE(native("native: one, known ,two", "hashcat"));
  EXPECT_FALSE(native("native:one,two", "hashcat"));
  EXPECT_FALSE(native("native:one,two", "on"));
}

TEST(VendorChoice, GivenAnythingElseThenSettingError) {
  for (const char* text :
       {"", "Native", "nativ", "native:", "native:a,,b", "native:/usr/bin/a", "hashcat", "native,a"})
    EXPECT_THROW(VendorChoice::parse(text, "vendor"), SettingError) << text;
}

TEST(LocalMemory, GivenChoiceThenItIsAQuarterForThesePrograms) {
  EXPECT_TRUE(is_quarter_for(parse_local_memory("known", ""), "hashcat"));
  EXPECT_FALSE(is_quarter_for(parse_local_memory("known", ""), "anything"));
  EXPECT_FALSE(is_quarter_for(parse_local_memory("known", ""), "FahCore_22"));
  EXPECT_FALSE(is_quarter_for(parse_local_memory("whole", ""), "hashcat"));
  EXPECT_TRUE(is_quarter_for(parse_local_memory("quarter", ""), "anything"));
  for (const char* text : {"", "Known", "half", "49152"})
    EXPECT_THROW(parse_local_memory(text, "local-memory"), SettingError) << text;
}

TEST(LocalMemory, GivenQuarterThenNotLessThanOfNvidiasDriver) {
  EXPECT_EQ(58'112U, quarter_of_local_memory(227 << 10));
  EXPECT_EQ(48U << 10, quarter_of_local_memory(99 << 10));
  EXPECT_EQ(32U << 10, quarter_of_local_memory(32 << 10));
}

TEST(KnownPrograms, GivenEachThenTheDocumentationListsThem) {
  std::ifstream file(CLIQUE_SOURCE_DIR "/docs/configuration.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const KnownProgram& program : kKnownPrograms)
    EXPECT_NE(std::string::npos, text.find("`" + std::string(program.name) + "`")) << program.name;
}

}  // namespace
}  // namespace clique::icd
