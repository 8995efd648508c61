// The files that the client collects for a program.
#include "icd/core/programs/included_files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "protocol/limits.hpp"
#include "protocol/sources/include_tree.hpp"

namespace clique::icd {
namespace {

namespace fs = std::filesystem;

class CollectedFiles : public testing::Test {
 protected:
  CollectedFiles() {
    std::string name = fs::temp_directory_path() / "clique-included-XXXXXX";
    folder_ = fs::canonical(::mkdtemp(name.data()));
  }
  ~CollectedFiles() override { fs::remove_all(folder_); }

  void write(const fs::path& path, const std::string& text) const {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }
  /// The paths relative to the folder, each with its text.
  std::map<std::string, std::string> found(
      const std::string& source, const std::string& options = "",
      const std::map<std::string, std::string_view, std::less<>>& headers = {}) {
    std::map<std::string, std::string> result;
    const IncludedFiles files = find_included_files(source, options, headers, folder_);
    EXPECT_EQ(files.folder, folder_);
    for (const IncludedFiles::File& file : files.files) {
      EXPECT_EQ(file.digest, protocol::digest_of(file.text));
      result[fs::path(file.path).lexically_relative(folder_)] = file.text;
    }
    return result;
  }
  using Found = std::map<std::string, std::string>;
  fs::path folder_;
};

TEST_F(CollectedFiles, GivenNoIncludesThenThereAreNone) {
  EXPECT_EQ(found("kernel void k() {}", "-I ."), Found{});
}

TEST_F(CollectedFiles, GivenIncludesThenTheirFilesAreReadFromDisk) {
  write("a.h", "#include \"dir/b.h\"\n");
  write("dir/b.h", "#include <c.h>\n");
  write("inc/c.h", "// c\n");
  write("unused.h", "");
  EXPECT_EQ(
      found("#include \"a.h\"", "-I inc"),
      (Found{{"a.h", "#include \"dir/b.h\"\n"}, {"dir/b.h", "#include <c.h>\n"}, {"inc/c.h", "// c\n"}}));
  EXPECT_EQ(found("#include \"a.h\"").size(), 2U);
}

TEST_F(CollectedFiles, GivenHeadersOfTheCallThenTheirFilesAreNotRead) {
  write("a.h", "// file\n");
  write("b.h", "// b\n");
  EXPECT_EQ(found("#include \"a.h\"", "", {{"a.h", "#include \"b.h\""}}), (Found{{"b.h", "// b\n"}}));
}

TEST_F(CollectedFiles, GivenWhatIsNoRegularFileThenItIsLeftOut) {
  fs::create_directory(folder_ / "folder");
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(found("#include \"folder\"\n#include \"pipe\"\n#include \"absent\"\n#include \"\"\n#include "
                  "\"/dev/zero\""),
            Found{});
}

TEST_F(CollectedFiles, GivenFileOfTooManyBytesThenTheErrorNamesIt) {
  write("large.h", "");
  fs::resize_file(folder_ / "large.h", protocol::kMaxProgramFileBytes + 1);
  try {
    found("#include \"large.h\"");
    FAIL() << "it was read";
  } catch (const protocol::TooMuchIncluded& error) {
    EXPECT_NE(std::string(error.what()).find("large.h"), std::string::npos) << error.what();
  }
}

TEST_F(CollectedFiles, GivenWorkingDirectoryThatWasRemovedThenPathsBeginAtTheRoot) {
  const fs::path before = fs::current_path();
  fs::create_directory(folder_ / "gone");
  fs::current_path(folder_ / "gone");
  fs::remove(folder_ / "gone");
  EXPECT_EQ(working_directory(), "/");
  fs::current_path(before);
  EXPECT_EQ(working_directory(), before);
}

}  // namespace
}  // namespace clique::icd
