#include "daemon/common/find_compiler.hpp"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "daemon/common/environment.hpp"

namespace clique::daemon::compiler {

std::string find_compiler() {
  if (const auto path = environment("CLIQUE_COMPILER")) return *path;
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const auto folder = program.parent_path();
  // Relative to cliqued: in the build folder, as installed, and beside it.
  for (const char* place :
       {"compiler/clique-compiler", "../" CLIQUE_LIBEXECDIR "/clique/clique-compiler", "clique-compiler"}) {
    const auto path = folder / place;
    if (::access(path.c_str(), X_OK) == 0) return path.lexically_normal();
  }
  return {};
}

}  // namespace clique::daemon::compiler
