// Which of the programs that sessions have compiled are kept for later sessions.
#include "daemon/server/processes/session_folder.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>
#include <vector>

namespace clique::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostOfAnOwner = 8;
constexpr std::size_t kMostOfAll = 64;
constexpr std::uintmax_t kMostBytes = 256U << 20U;
constexpr std::size_t kMostFiles = 20'000;

class KeptPrograms : public testing::Test {
 protected:
  KeptPrograms() {
    std::string name = fs::temp_directory_path() / "clique-folders-XXXXXX";
    root_ = ::mkdtemp(name.data());
  }
  ~KeptPrograms() override {
    wait();
    fs::remove_all(root_);
  }

  SessionFolder begin(const std::string& owner) const {
    SessionFolder session(root_);
    fs::create_directory(session.path() / SessionFolder::kPrograms);
    session.use_programs_of(owner);
    return session;
  }
  static void compile(const SessionFolder& session, const std::string& name, std::uintmax_t bytes = 1) {
    const fs::path file = session.path() / SessionFolder::kPrograms / name;
    std::ofstream(file) << 'x';
    fs::resize_file(file, bytes);
  }
  static bool has(const SessionFolder& session, const std::string& name) {
    return fs::exists(session.path() / SessionFolder::kPrograms / name);
  }
  static void wait() { SessionFolder::wait_until_removed(std::chrono::minutes(5)); }
  /// A whole session that compiles one program.
  void run(const std::string& owner, const std::string& name, std::uintmax_t bytes = 1) const {
    {
      const SessionFolder session = begin(owner);
      compile(session, name, bytes);
    }
    wait();
  }
  /// The kept folders of all owners.
  std::size_t kept() const {
    std::size_t count = 0;
    for (const auto& owner : fs::directory_iterator(root_))
      count += static_cast<std::size_t>(
          std::distance(fs::directory_iterator(owner.path()), fs::directory_iterator()));
    return count;
  }

  fs::path root_;
};

TEST_F(KeptPrograms, GivenAnotherSessionOfTheOwnerThenItHasThemAndNobodyElseHas) {
  run("alice", "program");
  EXPECT_FALSE(has(begin("bob"), "program"));
  EXPECT_TRUE(has(begin("alice"), "program"));
}

TEST_F(KeptPrograms, GivenAsManyBytesAsMayBeThenTheyAreKeptAndNotOneMore) {
  run("alice", "program", kMostBytes);
  EXPECT_EQ(kept(), 1U);
  run("bob", "program", kMostBytes + 1);
  EXPECT_EQ(kept(), 1U);
  EXPECT_FALSE(has(begin("bob"), "program"));
}

TEST_F(KeptPrograms, GivenAsManyFilesAsMayBeThenTheyAreKeptAndNotOneMore) {
  for (const auto& [owner, files] : {std::pair("alice", kMostFiles), std::pair("bob", kMostFiles + 1)}) {
    {
      const SessionFolder session = begin(owner);
      for (std::size_t i = 0; i < files; ++i)
        std::ofstream(session.path() / SessionFolder::kPrograms / std::to_string(i));
    }
    wait();
    EXPECT_EQ(kept(), 1U) << owner;
  }
}

TEST_F(KeptPrograms, GivenManySessionsOfAnOwnerAtATimeThenTheProgramsOfSomeAreKept) {
  {
    std::vector<SessionFolder> sessions;
    for (std::size_t i = 0; i < 2 * kMostOfAnOwner; ++i) {
      sessions.push_back(begin("alice"));
      compile(sessions.back(), "program");
    }
  }
  wait();
  EXPECT_EQ(kept(), kMostOfAnOwner);
}

TEST_F(KeptPrograms, GivenManyOwnersThenThoseWhoHaveNotComeForLongestLoseTheirs) {
  const auto owner = [](std::size_t number) { return "owner" + std::to_string(number); };
  for (std::size_t i = 0; i < kMostOfAll; ++i) run(owner(i), "program");
  EXPECT_EQ(kept(), kMostOfAll);
  // The first one comes again.
  run(owner(0), "program");
  run("new", "program");
  EXPECT_EQ(kept(), kMostOfAll);
  EXPECT_FALSE(has(begin(owner(1)), "program"));
  wait();
  for (const std::string& name : {owner(0), owner(2), std::string("new")})
    EXPECT_TRUE(has(begin(name), "program")) << name;
}

TEST_F(KeptPrograms, GivenAnOwnerWithoutProgramsThenNoFolderStays) {
  run("alice", "program");
  {
    // The only programs become too large to be kept.
    const SessionFolder session = begin("alice");
    compile(session, "large", kMostBytes);
  }
  wait();
  run("bob", "program");
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(root_)) names.insert(entry.path().filename());
  EXPECT_EQ(names, std::set<std::string>{"programs-of-bob"});
}

TEST_F(KeptPrograms, GivenFoldersOfKilledDaemonsThenTheyAreRemoved) {
  const SessionFolder used(root_);
  // A daemon can be killed before it has locked a folder, and a living one may be about to lock it.
  for (const char* const name : {"session-7-abcdef", "new-abcdef", "new-ghijkl"})
    fs::create_directory(root_ / name);
  fs::last_write_time(root_ / "new-abcdef", fs::file_time_type::clock::now() - std::chrono::hours(1));
  SessionFolder::remove_abandoned(root_);
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(root_)) names.insert(entry.path().filename());
  EXPECT_EQ(names, (std::set<std::string>{used.path().filename(), "new-ghijkl"}));
}

}  // namespace
}  // namespace clique::daemon
