#include "daemon/compiler/contract/libdevice.hpp"

#include <filesystem>
#include <vector>

#include "daemon/common/environment.hpp"

namespace clique::daemon::compiler {

std::string find_libdevice() {
  if (const auto path = environment("CLIQUE_LIBDEVICE")) return *path;
  std::vector<std::string> folders;
  for (const Variable variable : {Variable("CUDA_HOME"), Variable("CUDA_PATH")})
    if (const auto root = environment(variable)) folders.push_back(*root + "/nvvm/libdevice");
  folders.insert(folders.end(), {"/usr/local/cuda/nvvm/libdevice", "/opt/cuda/nvvm/libdevice",
                                 "/usr/lib/cuda/nvvm/libdevice", "/usr/lib/nvidia-cuda-toolkit/libdevice"});
  for (const std::string& folder : folders) {
    std::string path = folder + "/libdevice.10.bc";
    std::error_code unreadable;
    if (std::filesystem::is_regular_file(path, unreadable)) return path;
  }
  return {};
}

}  // namespace clique::daemon::compiler
