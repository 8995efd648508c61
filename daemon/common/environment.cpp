#include "daemon/common/environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace clique::daemon {

std::optional<std::string> environment(Variable variable) {
  const char* const value = std::getenv(variable.name());
  if (value == nullptr) return std::nullopt;
  return value;
}

void set_environment(Variable variable, const std::string& value) {
  ::setenv(variable.name(), value.c_str(), 1);
}

std::filesystem::path user_cache_folder() {
  if (const auto cache = environment("XDG_CACHE_HOME").value_or(""); !cache.empty()) return cache;
  if (const auto home = environment("HOME").value_or(""); !home.empty())
    return std::filesystem::path(home) / ".cache";
  return {};
}

namespace {

const std::vector<std::string> kPackagedToolkits{"/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda"};

std::vector<std::string> named_toolkits() {
  std::vector<std::string> roots;
  for (const Variable variable : {Variable("CUDA_HOME"), Variable("CUDA_PATH")})
    if (auto root = environment(variable).value_or(""); !root.empty()) roots.push_back(std::move(root));
  return roots;
}

}  // namespace

std::vector<std::string> cuda_toolkits() {
  std::vector<std::string> roots = named_toolkits();
  roots.insert(roots.end(), kPackagedToolkits.begin(), kPackagedToolkits.end());
  return roots;
}

std::vector<std::string> cuda_library_folders() {
  std::vector<std::string> folders;
  for (const std::string& root : named_toolkits()) folders.push_back(root + "/lib64");
  folders.emplace_back();
  for (const std::string& root : kPackagedToolkits) folders.push_back(root + "/lib64");
  return folders;
}

std::vector<std::string> environment_without(std::initializer_list<Variable> removed) {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto name = text.substr(0, text.find('='));
    if (std::none_of(removed.begin(), removed.end(), [name](Variable one) { return one.name() == name; }))
      result.emplace_back(text);
  }
  return result;
}

}  // namespace clique::daemon
