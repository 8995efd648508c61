#include "icd/remote/nodes/unreachable_nodes.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace clique::icd {
namespace {

namespace fs = std::filesystem;

class UnreachableNodesTest : public testing::Test {
 protected:
  UnreachableNodesTest() {
    char pattern[] = "/tmp/clique-unreachable-XXXXXX";
    folder = ::mkdtemp(pattern);
    file = folder / "clique/unreachable-nodes";
  }
  ~UnreachableNodesTest() override { fs::remove_all(folder); }

  void write(const std::string& text) const {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  bool remembers(const NodeAddress& node) const {
    return UnreachableNodes(file).silent_for(node).has_value();
  }
  static std::string seconds_ago(std::int64_t seconds) {
    return std::to_string(
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
            .count() -
        seconds);
  }

  const NodeAddress alpha{"alpha", 7890};
  const NodeAddress beta{"::1", 1};
  fs::path folder;
  fs::path file;
};

TEST_F(UnreachableNodesTest, AreKnownToLaterProgramsUntilTheyAnswer) {
  UnreachableNodes(file).note({alpha, beta}, {});
  EXPECT_TRUE(remembers(alpha));
  EXPECT_TRUE(remembers(beta));
  UnreachableNodes(file).note({}, {alpha});
  EXPECT_FALSE(remembers(alpha));
  EXPECT_TRUE(remembers(beta));
  EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), fs::directory_iterator()), 1);
}

TEST_F(UnreachableNodesTest, AreForgottenAfterTheirTime) {
  write("alpha:7890 " + seconds_ago(5) + "\n[::1]:1 " + seconds_ago(31) + "\n");
  EXPECT_GE(UnreachableNodes(file).silent_for(alpha).value_or(std::chrono::seconds(0)).count(), 5);
  EXPECT_FALSE(remembers(beta));
}

TEST_F(UnreachableNodesTest, KeepTheTimeOfTheFirstFailure) {
  write("alpha:7890 " + seconds_ago(5) + "\n");
  UnreachableNodes(file).note({alpha, beta}, {});
  EXPECT_GE(UnreachableNodes(file).silent_for(alpha).value_or(std::chrono::seconds(0)).count(), 5);
}

TEST_F(UnreachableNodesTest, OfTheFutureAreIgnored) {
  write("alpha:7890 " + seconds_ago(-60) + "\n[::1]:1 9223372036854775807\n");
  EXPECT_FALSE(remembers(alpha));
  EXPECT_FALSE(remembers(beta));
}

TEST_F(UnreachableNodesTest, OfMalformedFilesAreIgnored) {
  const std::string good = "alpha:7890 " + seconds_ago(1) + "\n";
  write(good);
  ASSERT_TRUE(remembers(alpha));
  for (const std::string& bad : {std::string("alpha:7890"), std::string("x\n"), std::string("x y\n"),
                                 std::string("x 99999999999999999999\n"), std::string(70'000, '\n')}) {
    write(good + bad);
    EXPECT_FALSE(remembers(alpha)) << bad.substr(0, 40);
  }
}

TEST_F(UnreachableNodesTest, OfFilesThatOthersMayHaveWrittenAreIgnored) {
  write("alpha:7890 " + seconds_ago(1) + "\n");
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(remembers(alpha));
  fs::permissions(file, fs::perms::others_write, fs::perm_options::remove);
  EXPECT_TRUE(remembers(alpha));
  fs::rename(file, folder / "elsewhere");
  fs::create_symlink(folder / "elsewhere", file);
  EXPECT_FALSE(remembers(alpha));
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(remembers(alpha));
  if (::geteuid() != 0) return;
  fs::remove(file);
  fs::rename(folder / "elsewhere", file);
  ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
  EXPECT_FALSE(remembers(alpha));
}

TEST_F(UnreachableNodesTest, AreNotWrittenIntoFoldersOfOthers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chown(folder.c_str(), 65534, 65534), 0);
  UnreachableNodes(file).note({alpha}, {});
  EXPECT_FALSE(fs::exists(file.parent_path()));
}

TEST_F(UnreachableNodesTest, WithoutAPlaceAreNotRemembered) {
  UnreachableNodes nowhere("");
  nowhere.note({alpha}, {});
  EXPECT_FALSE(nowhere.silent_for(alpha));
  UnreachableNodes(folder / "missing/folder/file").note({alpha}, {});
}

}  // namespace
}  // namespace clique::icd
