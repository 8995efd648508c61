// Programs that PoCL has compiled on nodes of tests, for nodes that start later, as tests/python/programs.py.
#pragma once

#include <pwd.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace clique::test {

/// The folder of one node for what PoCL compiles: sessions of the user who runs the test begin with the
/// programs of earlier nodes. A test says otherwise by setting one of the variables that name such a folder.
class NodePrograms {
 public:
  NodePrograms() {
    const char* shared = std::getenv("CLIQUE_TEST_PROGRAMS");
    if (shared == nullptr || std::getenv("POCL_CACHE_DIR") != nullptr ||
        std::getenv("XDG_CACHE_HOME") != nullptr)
      return;
    shared_ = shared;
    std::filesystem::create_directories(shared_);
    // On the same disk, for links.
    std::string name = shared_.parent_path() / "programs-of-node.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), "cannot create " + name);
    folder_ = name;
    // A test may have two sessions at a time.
    for (const char* session : {"0", "1"}) link_files(shared_, folder_ / of_this_user() / session);
  }
  NodePrograms(NodePrograms&& other) noexcept { swap(other); }
  NodePrograms& operator=(NodePrograms&& other) noexcept {
    swap(other);
    return *this;
  }
  NodePrograms(const NodePrograms&) = delete;
  NodePrograms& operator=(const NodePrograms&) = delete;
  /// Keeps what the sessions have compiled. The node must have ended, or been killed.
  ~NodePrograms() {
    namespace fs = std::filesystem;
    if (folder_.empty()) return;
    std::error_code failed;
    for (const auto& session : fs::directory_iterator(folder_ / of_this_user(), failed))
      link_files(session, shared_);
    // Sessions that did not end.
    for (const auto& session : fs::directory_iterator(folder_, failed))
      link_files(session.path() / "pocl", shared_);
    // Workers of a daemon that was killed may still write.
    fs::remove_all(folder_, failed);
  }

  /// The variables that cliqued needs.
  std::map<std::string, std::string> environment() const {
    if (folder_.empty()) return {};
    return {{"POCL_CACHE_DIR", folder_}};
  }

 private:
  void swap(NodePrograms& other) noexcept {
    std::swap(shared_, other.shared_);
    std::swap(folder_, other.folder_);
  }

  /// The name of the folder in which cliqued keeps the programs of sessions of this user.
  static std::string of_this_user() {
    const passwd* entry = ::getpwuid(::geteuid());
    std::string name = "programs-of-";
    for (const char c : std::string("user ") + (entry != nullptr ? entry->pw_name : "")) {
      const auto byte = static_cast<unsigned char>(c);
      name += std::isalnum(byte) != 0 ? std::string(1, c) : "_" + std::to_string(byte) + "_";
    }
    return name;
  }

  /// Adds the files below a folder, except PoCL's unfinished ones, to those below another on the same disk.
  static void link_files(const std::filesystem::path& source, const std::filesystem::path& target) {
    namespace fs = std::filesystem;
    std::error_code failed;
    fs::create_directories(target, failed);
    auto entry = fs::recursive_directory_iterator(source, failed);
    for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
      const fs::path place = target / entry->path().lexically_relative(source);
      // Others may add the same file, or finish theirs, at this moment.
      std::error_code exists;
      if (entry->is_directory(exists))
        fs::create_directory(place, exists);
      else if (!entry->path().filename().string().starts_with("tempfile"))
        fs::create_hard_link(entry->path(), place, exists);
    }
  }

  std::filesystem::path shared_;
  std::filesystem::path folder_;
};

}  // namespace clique::test
