// Which walls processes get, as far as it is decided without putting them up.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "daemon/confinement/confine.hpp"

namespace clique::daemon::confinement {
namespace {

namespace fs = std::filesystem;

/// The right that the rules give for a path by name; nothing if they do not name it.
std::optional<FileAccess> access_to(const FileRules& rules, const fs::path& path) {
  const auto found =
      std::find_if(rules.rbegin(), rules.rend(), [&](const FileRule& rule) { return rule.path == path; });
  if (found == rules.rend()) return std::nullopt;
  return found->access;
}

/// Sets a variable for one test.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Setting() {
    if (before_) {
      ::setenv(name_, before_->c_str(), 1);
    } else {
      ::unsetenv(name_);
    }
  }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(ConfinementMode, IsReadByName) {
  for (const Mode mode : {Mode::Off, Mode::On, Mode::Required}) EXPECT_EQ(parse_mode(name_of(mode)), mode);
  EXPECT_THROW(parse_mode("yes"), std::invalid_argument);
  EXPECT_THROW(parse_mode(""), std::invalid_argument);
}

TEST(ConfinementMode, IsOnUnlessTheEnvironmentSaysOtherwise) {
  {
    const Setting none("CLIQUE_CONFINEMENT", "");
    EXPECT_EQ(mode_of_environment(), Mode::On);
  }
  const Setting off("CLIQUE_CONFINEMENT", "off");
  EXPECT_EQ(mode_of_environment(), Mode::Off);
  const Setting wrong("CLIQUE_CONFINEMENT", "maybe");
  EXPECT_THROW(mode_of_environment(), std::invalid_argument);
}

TEST(FileRules, GivenADaemonsWorkerThenItWritesInItsFolderAlone) {
  const Setting home("HOME", "/home/somebody");
  const Setting caches("XDG_CACHE_HOME", "");
  const FileRules rules = file_rules({Role::OpenClWorker, "/folder/of/session", {}});
  for (const auto& [path, access] : rules) {
    if (access != FileAccess::Write || path == "/dev/shm" || path == "/tmp/nvidia-mps") continue;
    // That is about its own threads.
    if (path == "/proc/self/task") continue;
    EXPECT_EQ(path, "/folder/of/session");
  }
  EXPECT_EQ(access_to(rules, "/folder/of/session"), FileAccess::Write);
  EXPECT_EQ(access_to(rules, "/home/somebody/.cache"), std::nullopt);
}

TEST(FileRules, GivenRdmaThenItsDevicesAreThereAndOtherwiseNot) {
  EXPECT_EQ(access_to(file_rules({Role::OpenClWorker, "/folder", {}, true}), "/dev/infiniband"),
            FileAccess::Device);
  EXPECT_EQ(access_to(file_rules({Role::OpenClWorker, "/folder", {}, false}), "/dev/infiniband"),
            std::nullopt);
}

TEST(FileRules, GivenAPrivateWorkerThenItUsesItsUsersCaches) {
  const Setting home("HOME", "/home/somebody");
  const Setting caches("XDG_CACHE_HOME", "");
  EXPECT_EQ(access_to(file_rules({Role::OpenClWorker, {}, {}}), "/home/somebody/.cache"), FileAccess::Write);
}

TEST(CacheFolders, GivenNoneThenTheyAreMadeForThoseWhoUseThem) {
  std::string name = fs::temp_directory_path() / "clique-caches-XXXXXX";
  const fs::path home = ::mkdtemp(name.data());
  {
    const Setting user("HOME", home);
    const Setting caches("XDG_CACHE_HOME", home / "cache");
    make_cache_folders({Role::Compiler, "/folder/of/session", {}});
    EXPECT_TRUE(fs::is_empty(home));
    make_cache_folders({Role::CudaWorker, "/folder/of/session", {}});
    EXPECT_TRUE(fs::is_directory(home / "cache/clique/programs"));
    EXPECT_TRUE(fs::is_directory(home / ".nv"));
  }
  fs::remove_all(home);
}

TEST(FileRules, GivenTheCompilerThenItWritesNowhere) {
  for (const auto& [path, access] : file_rules({Role::Compiler, {}, {}}))
    EXPECT_NE(access, FileAccess::Write) << path;
}

TEST(FileRules, GivenAnyRoleThenNoHomeAndNoOtherProcessIsNamed) {
  const Setting home("HOME", "/home/somebody");
  for (const Role role : {Role::OpenClWorker, Role::CudaWorker, Role::Compiler, Role::Probe}) {
    const FileRules rules = file_rules({role, "/folder", {}});
    for (const char* never :
         {"/", "/home", "/home/somebody", "/root", "/etc", "/proc", "/sys", "/dev", "/var", "/run"})
      EXPECT_EQ(access_to(rules, never), std::nullopt) << never;
    EXPECT_EQ(access_to(rules, "/proc/self"), FileAccess::Read);
  }
}

TEST(FileRules, GivenDriversElsewhereThenTheirFoldersCanBeRead) {
  std::string folder = fs::temp_directory_path() / "clique-test-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::ofstream(fs::path(folder) / "one.icd") << "/elsewhere/pocl/lib/libpocl.so.2\n";
  std::ofstream(fs::path(folder) / "two.icd") << "libanother.so\n";
  const Setting vendors("OCL_ICD_VENDORS", folder);
  const FileRules rules = file_rules({Role::OpenClWorker, "/folder", {}});
  EXPECT_EQ(access_to(rules, "/elsewhere/pocl/lib"), FileAccess::Read);
  EXPECT_EQ(access_to(rules, "/elsewhere/pocl/share"), FileAccess::Read);
  EXPECT_EQ(access_to(rules, "/elsewhere/pocl"), std::nullopt);
  fs::remove_all(folder);
}

TEST(FileRules, GivenADriversLibraryThenItsFoldersAreNotAUsers) {
  EXPECT_EQ(folders_of_driver("/home/somebody/libdriver.so"), std::vector<fs::path>{"/home/somebody"});
  EXPECT_EQ(folders_of_driver("/libdriver.so"), std::vector<fs::path>{});
  EXPECT_EQ(folders_of_driver("libdriver.so"), std::vector<fs::path>{});
  const auto installed = folders_of_driver("/home/somebody/lib/libdriver.so");
  EXPECT_EQ(std::find(installed.begin(), installed.end(), "/home/somebody"), installed.end());
}

TEST(ConfinementRoles, OnlyThoseWithoutCudaHaveNamespaces) {
  EXPECT_TRUE(wants_namespaces(Role::OpenClWorker));
  for (const Role role : {Role::CudaWorker, Role::Compiler, Role::Probe})
    EXPECT_FALSE(wants_namespaces(role));
}

}  // namespace
}  // namespace clique::daemon::confinement
