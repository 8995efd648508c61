#include "daemon/backend/cuda/gpu/cufile.hpp"

#include <dlfcn.h>
#include <sys/types.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "daemon/backend/cuda/gpu/driver.hpp"
#include "daemon/common/environment.hpp"
#include "daemon/common/log.hpp"

namespace clique::daemon::cuda {

namespace {

// What cufile.h declares, which Clique is built without.

struct CuFileResult {
  int error = 0;  // of cuFile; 0: none
  int cuda = 0;   // CUresult, if `error` is kCudaError
};
struct CuFileDescriptor {
  int type = 0;
  union {
    int fd;
    void* other;
  };
  const void* operations = nullptr;
};
constexpr int kFileDescriptor = 1;  // CuFileDescriptor::type
struct CuFileProperties {
  unsigned major, minor;  // of the kernel module nvidia-fs
  std::size_t poll_threshold, most_direct;
  unsigned file_systems, control;
  std::array<std::byte, 256> others;  // More than any release has.
};
constexpr unsigned kCompatibilityMode = 1U << 1U;  // CuFileProperties::control
constexpr int kCudaError = 5011;

// Every function that is used: its name without "cuFile", its result, its parameters.
#define CLIQUE_CUFILE_CALLS(X)                               \
  X(DriverOpen, CuFileResult, void)                          \
  X(DriverGetProperties, CuFileResult, CuFileProperties*)    \
  X(HandleRegister, CuFileResult, void**, CuFileDescriptor*) \
  X(HandleDeregister, void, void*)                           \
  X(Read, ssize_t, void*, void*, std::size_t, off_t, off_t)

struct CuFileLibrary {
#define CLIQUE_CUFILE_MEMBER(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
  CLIQUE_CUFILE_CALLS(CLIQUE_CUFILE_MEMBER)
#undef CLIQUE_CUFILE_MEMBER
};

CuFileLibrary the_cufile;

/// @param number of CUfileOpError
std::string cufile_error(int number) {
  const std::string text = "error " + std::to_string(number) + " of cuFile";
  switch (number) {
    case 5001:
      return text + ": the kernel module nvidia-fs is not loaded";
    case 5007:
      return text + ": the host does not support GPUDirect Storage";
    case 5008:
    case 5018:
    case 5034:
      return text + ": the file system does not support GPUDirect Storage";
    case 5009:
      return text + ": the GPU does not support GPUDirect Storage";
    case 5019:
      return text + ": the file is open with flags that cuFile does not know";
    case 5020:
      return text + ": the file is not open for direct transfers";
    default:
      return text + ", see cufile.h";
  }
}

std::string cufile_error(const CuFileResult& result) {
  if (result.error != kCudaError) return cufile_error(result.error);
  return std::string("CUDA fails within cuFile: ") + name_of(static_cast<CUresult>(result.cuda));
}

void* open_cufile_library() {
  constexpr const char* kName = "libcufile.so.0";
  std::string why;
  for (const std::filesystem::path folder : cuda_library_folders()) {
    // Never closed: the library's threads live as long as the process.
    if (void* library = ::dlopen((folder / kName).c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    if (folder.empty()) why = ::dlerror();
  }
  throw std::runtime_error("cuFile cannot be opened, and may not be installed: " + why);
}

void load_cufile(CuFileUse use) {
  void* const library = open_cufile_library();
  const auto find = [library](const char* symbol) {
    void* const address = ::dlsym(library, symbol);
    if (address == nullptr) throw std::runtime_error(std::string(symbol) + " is missing in cuFile");
    return address;
  };
#define CLIQUE_CUFILE_LOAD(name, result, ...) \
  the_cufile.name = reinterpret_cast<decltype(the_cufile.name)>(find("cuFile" #name));
  CLIQUE_CUFILE_CALLS(CLIQUE_CUFILE_LOAD)
#undef CLIQUE_CUFILE_LOAD
  if (const CuFileResult result = the_cufile.DriverOpen(); result.error != 0)
    throw std::runtime_error(cufile_error(result));
  CuFileProperties properties{};
  if (const CuFileResult result = the_cufile.DriverGetProperties(&properties); result.error != 0)
    throw std::runtime_error(cufile_error(result));
  // An old release may not know the variable by which prepare_cufile() forbids it.
  if (use == CuFileUse::Auto && (properties.control & kCompatibilityMode) != 0)
    throw std::runtime_error(
        "cuFile copies through the host's memory where there is no GPUDirect Storage; set allow_compat_mode "
        "to false in its configuration");
}

class RegisteredFile final : public DirectFile {
 public:
  RegisteredFile(Fd file, CUcontext context) : file_(std::move(file)), context_(context) {
    driver().CtxSetCurrent(context_);
    CuFileDescriptor descriptor;
    descriptor.type = kFileDescriptor;
    descriptor.fd = file_.get();
    if (const CuFileResult result = the_cufile.HandleRegister(&handle_, &descriptor); result.error != 0)
      throw std::runtime_error(cufile_error(result));
  }
  ~RegisteredFile() override { the_cufile.HandleDeregister(handle_); }
  RegisteredFile(const RegisteredFile&) = delete;
  RegisteredFile& operator=(const RegisteredFile&) = delete;

  std::size_t read(std::byte* to, std::size_t size, std::uint64_t offset) override {
    driver().CtxSetCurrent(context_);
    const ssize_t done = the_cufile.Read(handle_, to, size, static_cast<off_t>(offset), 0);
    if (done == -1) throw std::system_error(errno, std::generic_category(), "cuFileRead");
    if (done < 0) throw std::runtime_error(cufile_error(static_cast<int>(-done)));
    return static_cast<std::size_t>(done);
  }

 private:
  const Fd file_;
  const CUcontext context_;
  void* handle_ = nullptr;
};

}  // namespace

bool open_cufile(CuFileUse use) {
  static const bool opened = [use] {
    const bool always = use == CuFileUse::Always;
    try {
      load_cufile(use);
    } catch (const std::runtime_error& error) {
      // Most hosts have no GPUDirect Storage, and lack nothing.
      spdlog::log(always ? spdlog::level::warn : spdlog::level::debug, "files are read without cuFile: {}",
                  error.what());
      return false;
    }
    spdlog::info("the GPU reads files through cuFile{}",
                 always ? ", also where there is no GPUDirect Storage" : "");
    return true;
  }();
  return opened;
}

std::unique_ptr<DirectFile> register_file(Fd file, CUcontext context) {
  return std::make_unique<RegisteredFile>(std::move(file), context);
}

}  // namespace clique::daemon::cuda
