#include "daemon/compiler/contract/libdevice.hpp"

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace clique::daemon::compiler {

std::string find_libdevice() {
  if (const char* const path = std::getenv("CLIQUE_LIBDEVICE")) return path;
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const root = std::getenv(variable))
      folders.push_back(std::string(root) + "/nvvm/libdevice");
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
