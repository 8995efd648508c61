#include "daemon/compiler/client/cache.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

namespace clique::daemon::compiler {
namespace {

namespace fs = std::filesystem;

class CacheTest : public testing::Test {
 protected:
  CacheTest() {
    std::string name = fs::temp_directory_path() / "clique-cache-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~CacheTest() override { fs::remove_all(folder_); }

  static CacheKey key(int number) { return CacheKeyBuilder().add(std::to_string(number)).key(); }
  static protocol::Bytes content(int number, std::size_t size = 1000) {
    protocol::Bytes bytes(size);
    std::iota(bytes.begin(), bytes.end(), static_cast<std::uint8_t>(number));
    return bytes;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder_))
      if (entry.is_regular_file()) files.push_back(entry.path());
    return files;
  }

  std::string folder_;
};

TEST_F(CacheTest, GivenEntryWhenAskedThenItIsThere) {
  Cache cache(folder_);
  EXPECT_FALSE(cache.get(key(1)));
  cache.put(key(1), content(1));
  EXPECT_EQ(cache.get(key(1)), content(1));
  EXPECT_EQ(Cache(folder_).get(key(1)), content(1));
  EXPECT_FALSE(cache.get(key(2)));
  cache.put(key(3), {});
  EXPECT_EQ(cache.get(key(3)), protocol::Bytes{});
}

TEST_F(CacheTest, GivenPartsWhenHashedThenTheirBordersCount) {
  EXPECT_NE(CacheKeyBuilder().add("ab").add("c").key(), CacheKeyBuilder().add("a").add("bc").key());
  EXPECT_EQ(CacheKeyBuilder().add("ab").key(), CacheKeyBuilder().add("ab").key());
  EXPECT_EQ(key(1).text().size(), 64U);
}

TEST_F(CacheTest, GivenDamagedEntryWhenAskedThenItIsMissingAndRemoved) {
  Cache cache(folder_);
  for (const auto damage : {0, 12, 45, 500}) {
    cache.put(key(1), content(1));
    {
      std::fstream file(files().at(0), std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(damage);
      const int old = file.get();
      file.seekp(damage);
      file.put(static_cast<char>(old ^ 1));
    }
    EXPECT_FALSE(cache.get(key(1))) << damage;
    EXPECT_TRUE(files().empty());
  }
  cache.put(key(1), content(1));
  fs::resize_file(files().at(0), 100);
  EXPECT_FALSE(cache.get(key(1)));
  cache.put(key(1), content(1));
  fs::resize_file(files().at(0), 0);
  EXPECT_FALSE(cache.get(key(1)));
}

TEST_F(CacheTest, GivenLimitWhenFullThenTheLeastUsedGo) {
  Cache cache(folder_, 20'500);
  for (int i = 0; i < 19; ++i) {
    cache.put(key(i), content(i));
    const auto old = fs::file_time_type::clock::now() - std::chrono::hours(100 - i);
    for (const auto& file : files())
      if (fs::last_write_time(file) > fs::file_time_type::clock::now() - std::chrono::hours(1))
        fs::last_write_time(file, old);
  }
  EXPECT_TRUE(cache.get(key(0)));  // makes it the most recently used
  for (int i = 19; i < 25; ++i) cache.put(key(i), content(i));
  std::uintmax_t size = 0;
  for (const auto& file : files()) size += fs::file_size(file);
  EXPECT_LE(size, 20'500U);
  EXPECT_TRUE(cache.get(key(0)));
  EXPECT_FALSE(cache.get(key(1)));
  EXPECT_TRUE(cache.get(key(24)));
}

/// Limits the size of files to `bytes`, so that writing fails as on a full disk.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  const sighandler_t handler_ = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before_{};
};

TEST_F(CacheTest, GivenFullDiskWhenPutThenNothingIsKeptOrLost) {
  Cache cache(folder_);
  cache.put(key(1), content(1));
  for (const rlim_t room : {0, 10, 500}) {
    const FullDisk full(room);
    cache.put(key(2), content(2));
    EXPECT_FALSE(cache.get(key(2)));
    EXPECT_EQ(files().size(), 1U);
  }
  EXPECT_EQ(cache.get(key(1)), content(1));
  cache.put(key(2), content(2));
  EXPECT_EQ(cache.get(key(2)), content(2));
}

TEST_F(CacheTest, GivenFolderThatCannotBeMadeThenNothingIsKept) {
  std::ofstream(folder_ + "/file") << "not a folder";
  Cache cache(folder_ + "/file");
  cache.put(key(1), content(1));
  EXPECT_FALSE(cache.get(key(1)));
}

TEST_F(CacheTest, GivenEntryLargerThanTheCacheWhenPutThenNothingIsLost) {
  Cache cache(folder_, 20'500);
  cache.put(key(1), content(1));
  cache.put(key(2), content(2, 30'000));
  EXPECT_TRUE(cache.get(key(1)));
  EXPECT_FALSE(cache.get(key(2)));
}

TEST_F(CacheTest, GivenManyProcessesWhenTheyUseTheSameEntriesThenAllEntriesAreWhole) {
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      Cache cache(folder_, 100'000);
      int wrong = 0;
      for (int i = 0; i < 400; ++i) {
        const int number = (i * 7 + child) % 40;
        cache.put(key(number), content(number, 4000));
        const auto got = cache.get(key((number + 3) % 40));
        if (got && *got != content((number + 3) % 40, 4000)) ++wrong;
      }
      ::_exit(wrong == 0 ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (const auto& file : files()) EXPECT_FALSE(file.filename().string().starts_with("new-")) << file;
}

TEST_F(CacheTest, GivenFolderThatCannotBeWrittenWhenUsedThenNothingHappens) {
  std::ofstream(folder_ + "/file") << "not a folder";
  Cache cache(folder_ + "/file");
  cache.put(key(1), content(1));
  EXPECT_FALSE(cache.get(key(1)));
  Cache nowhere("/proc/nowhere");
  nowhere.put(key(1), content(1));
  EXPECT_FALSE(nowhere.get(key(1)));
}

TEST_F(CacheTest, GivenEnvironmentWhenAskedThenItSaysWhere) {
  ::setenv("CLIQUE_CACHE_DIR", folder_.c_str(), 1);
  EXPECT_EQ(Cache::from_environment().folder(), folder_);
  ::setenv("CLIQUE_CACHE", "0", 1);
  EXPECT_EQ(Cache::from_environment().folder(), "");
  ::unsetenv("CLIQUE_CACHE");
  ::unsetenv("CLIQUE_CACHE_DIR");
  ::setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(Cache::from_environment().folder(), "/x/clique/programs");
  ::unsetenv("XDG_CACHE_HOME");
  ::setenv("HOME", "/h", 1);
  EXPECT_EQ(Cache::from_environment().folder(), "/h/.cache/clique/programs");
}

}  // namespace
}  // namespace clique::daemon::compiler
