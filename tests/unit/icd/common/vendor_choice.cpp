// CLIQUE_VENDOR.
#include "icd/common/vendor_choice.hpp"

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

TEST(VendorChoice, GivenKnownProgramsThenTheDocumentationListsThem) {
  std::ifstream file(CLIQUE_SOURCE_DIR "/docs/configuration.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const KnownProgram& program : kKnownPrograms)
    EXPECT_NE(std::string::npos, text.find("`" + std::string(program.name) + "`")) << program.name;
}

}  // namespace
}  // namespace clique::icd
