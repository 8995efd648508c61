#include "daemon/compiler/nvrtc/library.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <vector>

#include "daemon/common/environment.hpp"

namespace clique::daemon::compiler {

namespace {

namespace fs = std::filesystem;

constexpr const char* kRemedy =
    "install NVIDIA's NVRTC (libnvrtc.so, a part of the CUDA toolkit) on the node, or set CLIQUE_NVRTC to "
    "its path";

// Major versions of CUDA, as in the library's name.
constexpr int kLatestCuda = 20;
constexpr int kOldestCuda = 12;

/// Opens the latest libnvrtc.so.N in `folder`; an empty `folder` stands for the loader's search path. Null if
/// there is none.
void* open_any(const std::string& folder) {
  for (int version = kLatestCuda; version >= kOldestCuda; --version) {
    const std::string name = "libnvrtc.so." + std::to_string(version);
    const std::string path = folder.empty() ? name : (fs::path(folder) / name).string();
    // Never closed: threads that the library starts live as long as the process.
    if (void* library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

void* open_library() {
  if (const auto path = environment("CLIQUE_NVRTC")) {
    if (path->empty()) throw std::runtime_error("CUDA C++ is turned off on this node: CLIQUE_NVRTC is empty");
    if (void* library = ::dlopen(path->c_str(), RTLD_LAZY | RTLD_LOCAL)) return library;
    throw std::runtime_error("CLIQUE_NVRTC is set to '" + *path +
                             "', which cannot be opened: " + ::dlerror());
  }
  for (const std::string& folder : cuda_library_folders())
    if (void* library = open_any(folder)) return library;
  throw std::runtime_error(std::string("this node cannot compile CUDA C++: ") + kRemedy);
}

Nvrtc load() {
  void* library = open_library();
  const auto find = [library](const char* symbol) {
    void* address = ::dlsym(library, symbol);
    if (address == nullptr)
      throw std::runtime_error(std::string("the NVRTC that was opened lacks the function ") + symbol + ": " +
                               kRemedy);
    return address;
  };
  Nvrtc nvrtc;
#define CLIQUE_NVRTC_LOAD(name, ...) nvrtc.name = reinterpret_cast<decltype(nvrtc.name)>(find("nvrtc" #name));
  CLIQUE_NVRTC_CALLS(CLIQUE_NVRTC_LOAD)
#undef CLIQUE_NVRTC_LOAD
  nvrtc.GetErrorString = reinterpret_cast<decltype(nvrtc.GetErrorString)>(find("nvrtcGetErrorString"));
  if (nvrtc.Version(&nvrtc.major, &nvrtc.minor) != kNvrtcSuccess)
    throw std::runtime_error(std::string("the NVRTC that was opened does not return its version: ") +
                             kRemedy);

  Dl_info info{};
  std::error_code error;
  if (::dladdr(reinterpret_cast<void*>(nvrtc.Version), &info) != 0)
    nvrtc.path = fs::canonical(info.dli_fname, error).string();
  nvrtc.identity = std::to_string(nvrtc.major) + "." + std::to_string(nvrtc.minor) + " " + nvrtc.path + " " +
                   std::to_string(fs::file_size(nvrtc.path, error)) + " " +
                   std::to_string(fs::last_write_time(nvrtc.path, error).time_since_epoch().count());
  return nvrtc;
}

}  // namespace

const Nvrtc& open_nvrtc() {
  struct Opened {
    std::optional<Nvrtc> nvrtc;
    std::string why;
  };
  static const Opened opened = [] {
    Opened result;
    try {
      result.nvrtc = load();
    } catch (const std::runtime_error& error) {
      result.why = error.what();
    }
    return result;
  }();
  if (!opened.nvrtc) throw std::runtime_error(opened.why);
  return *opened.nvrtc;
}

bool has_nvrtc() {
  try {
    open_nvrtc();
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

std::string find_cuda_headers(const Nvrtc& nvrtc) {
  std::vector<std::string> folders{fs::path(nvrtc.path).parent_path().parent_path() / "include"};
  for (const std::string& toolkit : cuda_toolkits()) folders.push_back(toolkit + "/include");
  for (const std::string& folder : folders) {
    std::error_code unreadable;
    if (fs::is_regular_file(folder + "/cuda_fp16.h", unreadable)) return folder;
  }
  return {};
}

}  // namespace clique::daemon::compiler
