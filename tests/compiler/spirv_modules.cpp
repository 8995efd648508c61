// Recognising SPIR-V modules and finding the translator.
#include "daemon/compiler/contract/spirv.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace clique::daemon::compiler {
namespace {

namespace fs = std::filesystem;

bool is_module(const std::vector<std::uint32_t>& words, std::size_t bytes_less = 0) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(words.data());
  return is_spirv({bytes, words.size() * sizeof(std::uint32_t) - bytes_less});
}

TEST(SpirvModules, GivenHeaderAndWholeInstructionsThenItIsAModule) {
  EXPECT_TRUE(is_module({0x07230203, 0x00010000, 0, 1, 0}));
  EXPECT_TRUE(is_module({0x07230203, 0x00010000, 0, 1, 0, 0x00020011, 6, 0x0003000E, 2, 2}));
}

TEST(SpirvModules, GivenAnythingElseThenItIsNone) {
  EXPECT_FALSE(is_module({}));
  EXPECT_FALSE(is_module({0x07230203}));
  EXPECT_FALSE(is_module({0x07230203, 0x00010000, 0, 1}));
  EXPECT_FALSE(is_module({0x03022307, 0x00000100, 0, 0x01000000, 0}));
  EXPECT_FALSE(is_module({0x07230203, 0x00010000, 0, 1, 0, 0x00020011}));
  EXPECT_FALSE(is_module({0x07230203, 0x00010000, 0, 1, 0, 0x00000011}));
  EXPECT_FALSE(is_module({0x07230203, 0x00010000, 0, 1, 0, 0x00010011}, 1));
}

class SpirvTranslatorTest : public testing::Test {
 protected:
  SpirvTranslatorTest() {
    std::string name = fs::temp_directory_path() / "clique-path-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    path_ = std::getenv("PATH");
    ::setenv("PATH", folder_.c_str(), 1);
    ::unsetenv("CLIQUE_SPIRV_TRANSLATOR");
  }
  ~SpirvTranslatorTest() override {
    ::setenv("PATH", path_.c_str(), 1);
    ::unsetenv("CLIQUE_SPIRV_TRANSLATOR");
    fs::remove_all(folder_);
  }
  std::string add(const std::string& name, fs::perms permissions = fs::perms::owner_all) {
    const std::string file = folder_ + "/" + name;
    std::ofstream(file) << name;
    fs::permissions(file, permissions);
    return file;
  }
  static std::string found() {
    const auto translator = find_spirv_translator();
    return translator ? translator->path : "";
  }
  std::string folder_, path_;
};

TEST_F(SpirvTranslatorTest, GivenNoneThenNoneIsFound) {
  EXPECT_FALSE(find_spirv_translator());
  add("llvm-spirv-15", fs::perms::owner_read);
  fs::create_directory(folder_ + "/llvm-spirv");
  EXPECT_EQ(found(), "");
}

TEST_F(SpirvTranslatorTest, GivenSeveralThenItIsTheLatestWhoseBitcodeCanBeRead) {
  const std::string any = add("llvm-spirv");
  EXPECT_EQ(found(), any);
  add("llvm-spirv-99");
  EXPECT_EQ(found(), any);
  add("llvm-spirv-14");
  const std::string later = add("llvm-spirv-17");
  EXPECT_EQ(found(), later);
}

TEST_F(SpirvTranslatorTest, GivenTheEnvironmentsThenItIsTakenOrNone) {
  add("llvm-spirv-15");
  const std::string mine = add("mine");
  ::setenv("CLIQUE_SPIRV_TRANSLATOR", mine.c_str(), 1);
  EXPECT_EQ(found(), mine);
  ::setenv("CLIQUE_SPIRV_TRANSLATOR", "", 1);
  EXPECT_EQ(found(), "");
  ::setenv("CLIQUE_SPIRV_TRANSLATOR", (folder_ + "/missing").c_str(), 1);
  EXPECT_EQ(found(), "");
}

TEST_F(SpirvTranslatorTest, GivenAnotherFileThenItsIdentityIsAnother) {
  const std::string file = add("llvm-spirv-15");
  const std::string before = find_spirv_translator()->identity;
  EXPECT_EQ(find_spirv_translator()->identity, before);
  std::ofstream(file, std::ios::app) << "more";
  EXPECT_NE(find_spirv_translator()->identity, before);
}

}  // namespace
}  // namespace clique::daemon::compiler
