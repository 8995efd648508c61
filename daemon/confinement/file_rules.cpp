#include "daemon/confinement/file_rules.hpp"

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <system_error>

#include "daemon/common/environment.hpp"
#include "daemon/common/find_compiler.hpp"

namespace clique::daemon::confinement {

namespace {

namespace fs = std::filesystem;
using Paths = std::vector<fs::path>;

/// Where systems keep programs, libraries and their data.
constexpr const char* kSystemFolders[] = {"/usr",  "/lib", "/lib32",     "/lib64",     "/bin",
                                          "/sbin", "/opt", "/nix/store", "/gnu/store", "/run/opengl-driver"};

/// Settings of the loader, of OpenCL, of drivers, and for resolving the names of other nodes.
constexpr const char* kSystemSettings[] = {
    "/etc/ld.so.cache",  "/etc/ld.so.conf",      "/etc/ld.so.conf.d",  "/etc/ld.so.preload",
    "/etc/alternatives", "/etc/OpenCL",          "/etc/nvidia",        "/etc/drirc",
    "/etc/os-release",   "/etc/localtime",       "/etc/nsswitch.conf", "/etc/host.conf",
    "/etc/hosts",        "/etc/gai.conf",        "/etc/resolv.conf",   "/etc/services",
    "/etc/protocols",    "/run/systemd/resolve", "/run/nscd",          "/run/nvidia-persistenced"};

/// Information from the kernel about the host and this process. Folders of other processes are not included.
constexpr const char* kKernelFiles[] = {
    "/proc/self",        "/proc/cpuinfo",  "/proc/meminfo",  "/proc/stat",       "/proc/version",
    "/proc/uptime",      "/proc/loadavg",  "/proc/devices",  "/proc/modules",    "/proc/driver",
    "/proc/filesystems", "/proc/mounts",   "/proc/cmdline",  "/proc/interrupts", "/proc/sys/kernel",
    "/proc/sys/vm",      "/proc/sys/dev",  "/sys/bus",       "/sys/class",       "/sys/dev",
    "/sys/devices",      "/sys/fs/cgroup", "/sys/kernel/mm", "/sys/module",      "/sys/firmware"};

constexpr const char* kHarmlessDevices[] = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random",
                                            "/dev/urandom"};

/// Programs that OpenCL drivers link kernels with.
constexpr const char* kLinkers[] = {"ld", "ld.bfd", "ld.gold", "ld.lld", "lld", "clang"};
/// Versions of LLVM that OpenCL drivers may use.
constexpr int kOldestLlvm = 11;
constexpr int kNewestLlvm = 30;

/// The elements of a list such as PATH, without empty ones.
Paths split(const std::string& list, const char* separators = ":") {
  Paths paths;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find_first_of(separators, begin), list.size());
    if (end > begin) paths.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return paths;
}

class Collector {
 public:
  void add(const fs::path& path, FileAccess access) {
    if (path.is_absolute()) rules_.push_back({path.lexically_normal(), access});
  }
  /// Adds a file or folder, and its target if it is a symbolic link.
  void add_resolved(const fs::path& path, FileAccess access) {
    add(path, access);
    std::error_code missing;
    if (const fs::path target = fs::canonical(path, missing); !missing && target != path) add(target, access);
  }
  template <typename List>
  void add_all(const List& paths, FileAccess access) {
    for (const auto& path : paths) add(path, access);
  }
  FileRules take() { return std::move(rules_); }

 private:
  FileRules rules_;
};

/// The libraries named by the .icd files of a vendors folder, or by one .icd file.
Paths driver_libraries(const fs::path& vendors) {
  Paths files;
  std::error_code missing;
  if (fs::is_directory(vendors, missing)) {
    for (const auto& entry : fs::directory_iterator(vendors, missing)) files.push_back(entry.path());
  } else {
    files.push_back(vendors);
  }
  Paths libraries;
  for (const fs::path& file : files) {
    // OCL_ICD_VENDORS may also name a library itself.
    if (file.extension() != ".icd") {
      libraries.push_back(file);
      continue;
    }
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with('/')) libraries.emplace_back(line.substr(0, line.find_last_not_of(" \t\r") + 1));
  }
  return libraries;
}

void add_drivers(Collector& rules) {
  Paths vendors{"/etc/OpenCL/vendors"};
  for (const fs::path& named : split(environment("OCL_ICD_VENDORS").value_or(""))) {
    rules.add_resolved(named, FileAccess::Read);
    vendors.push_back(named);
  }
  for (const fs::path& place : vendors) {
    for (const fs::path& library : driver_libraries(place)) {
      rules.add_all(folders_of_driver(library), FileAccess::Read);
      std::error_code missing;
      if (const fs::path target = fs::canonical(library, missing); !missing)
        rules.add_all(folders_of_driver(target), FileAccess::Read);
    }
  }
}

/// Adds the files and folders that the environment names.
void add_environment(Collector& rules) {
  for (const fs::path& folder : split(environment("LD_LIBRARY_PATH").value_or("")))
    rules.add_resolved(folder, FileAccess::Read);
  for (const fs::path& library : split(environment("LD_PRELOAD").value_or(""), ": "))
    rules.add_resolved(library, FileAccess::Read);
  for (const Variable variable : {Variable("CUDA_HOME"), Variable("CUDA_PATH"), Variable("CLIQUE_LIBDEVICE")})
    rules.add_resolved(environment(variable).value_or(""), FileAccess::Read);
  // The library loads others of the same toolkit.
  if (const auto nvrtc = environment("CLIQUE_NVRTC")) {
    for (const fs::path& folder : folders_of_driver(*nvrtc)) rules.add_resolved(folder, FileAccess::Read);
  }
}

/// Adds the folders of this program and of the programs installed with it.
void add_own_program(Collector& rules, FileAccess access) {
  std::error_code failed;
  const fs::path folder = fs::read_symlink("/proc/self/exe", failed).parent_path();
  rules.add(folder, access);
  if (const auto compiler = environment("CLIQUE_COMPILER").value_or(""); !compiler.empty())
    rules.add_resolved(fs::path(compiler).parent_path(), access);
  // If installed outside of /usr.
  if (folder.filename() == "bin")
    for (const char* beside : {"lib", "lib64", "libexec"})
      rules.add(folder.parent_path() / beside / "clique", access);
}

/// Adds the dynamic loader, which the kernel executes for every other program.
int add_loader(dl_phdr_info* program, std::size_t /*size*/, void* rules) {
  for (int i = 0; i < program->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = program->dlpi_phdr[i];
    if (header.p_type != PT_INTERP) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses as integers
    static_cast<Collector*>(rules)->add_resolved(
        reinterpret_cast<const char*>(program->dlpi_addr + header.p_vaddr), FileAccess::Execute);
  }
  return 1;  // Only the program itself, which comes first.
}

void add_programs(Collector& rules, const Paths& programs) {
  ::dl_iterate_phdr(add_loader, &rules);
  for (const fs::path& program : programs) rules.add_resolved(program, FileAccess::Execute);
}

/// The linkers and translators of SPIR-V that a driver's compiler may find.
Paths compiler_tools() {
  std::vector<std::string> names(std::begin(kLinkers), std::end(kLinkers));
  names.emplace_back("llvm-spirv");
  for (int version = kOldestLlvm; version <= kNewestLlvm; ++version)
    names.push_back("llvm-spirv-" + std::to_string(version));
  Paths programs;
  Paths folders = split(environment("PATH").value_or(""));
  folders.insert(folders.end(), {"/usr/local/bin", "/usr/bin", "/bin"});
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator("/usr/lib", missing))
    if (entry.path().filename().string().starts_with("llvm")) folders.push_back(entry.path() / "bin");
  for (const fs::path& folder : folders)
    for (const std::string& name : names)
      if (fs::exists(folder / name, missing)) programs.push_back(folder / name);
  return programs;
}

/// What UCX and the drivers of RDMA networks use.
void add_rdma(Collector& rules) {
  rules.add("/dev/infiniband", FileAccess::Device);
  for (const char* place : {"/etc/libibverbs.d", "/etc/rdma", "/etc/ucx", "/proc/sys/net/core"})
    rules.add_resolved(place, FileAccess::Read);
}

/// What cuFile reads: its configuration, and what udev knows of the disk that a file is on. add_devices()
/// adds the devices of nvidia-fs.
void add_cufile(Collector& rules) {
  rules.add_resolved(environment("CUFILE_ENV_PATH_JSON").value_or("/etc/cufile.json"), FileAccess::Read);
  rules.add("/run/udev/data", FileAccess::Read);
  // It looks there for what the kernel can do. Without capabilities, the process sees names and no addresses.
  rules.add("/proc/kallsyms", FileAccess::Read);
}

void add_devices(Collector& rules) {
  std::error_code unreadable;
  for (const auto& entry : fs::directory_iterator("/dev", unreadable)) {
    // NVIDIA GPUs (and /dev/nvidia-caps), and GPUs of AMD, Intel and others.
    const std::string name = entry.path().filename();
    if (name.starts_with("nvidia") || name == "dri" || name == "kfd" || name == "accel" || name == "dxg")
      rules.add(entry.path(), FileAccess::Device);
  }
  rules.add("/dev/shm", FileAccess::Write);
  // The pipes of NVIDIA's Multi-Process Service.
  rules.add(environment("CUDA_MPS_PIPE_DIRECTORY").value_or("/tmp/nvidia-mps"), FileAccess::Write);
}

fs::path home() {
  return environment("HOME").value_or("");
}

/// The cache folders, which drivers and the worker create if they do not exist.
Paths cache_folders(const FileNeeds& needs) {
  Paths folders;
  if (needs.role == Role::CudaWorker) {
    // These contain code for GPUs only, and the processes that compile it cannot write here themselves.
    folders.emplace_back(
        environment("CLIQUE_CACHE_DIR").value_or((user_cache_folder() / "clique/programs").string()));
    folders.emplace_back(environment("CUDA_CACHE_PATH").value_or((home() / ".nv").string()));
  }
  if (needs.folder.empty()) folders.push_back(user_cache_folder());
  return folders;
}

/// Adds the folders that a process writes to.
void add_places_to_write(Collector& rules, const FileNeeds& needs) {
  if (!needs.folder.empty()) rules.add_resolved(needs.folder, FileAccess::Write);
  for (const fs::path& folder : cache_folders(needs)) rules.add_resolved(folder, FileAccess::Write);
  if (!needs.folder.empty()) return;
  std::error_code none;
  for (const fs::path& place :
       {home() / ".nv", fs::path(environment("POCL_CACHE_DIR").value_or("")),
        fs::path(environment("XDG_RUNTIME_DIR").value_or("")) / ("clique-" + std::to_string(::geteuid())),
        fs::temp_directory_path(none), fs::path("/tmp")})
    if (place.is_absolute()) rules.add_resolved(place, FileAccess::Write);
}

}  // namespace

std::vector<fs::path> folders_of_driver(const fs::path& library) {
  const fs::path folder = library.parent_path();
  if (!folder.is_absolute() || folder == "/") return {};
  Paths folders{folder};
  const fs::path prefix = folder.parent_path();
  if (prefix == "/" || !folder.filename().string().starts_with("lib")) return folders;
  for (const char* beside : {"share", "include", "libexec", "etc"}) folders.push_back(prefix / beside);
  return folders;
}

void make_cache_folders(const FileNeeds& needs) {
  std::error_code ignored;
  for (const fs::path& folder : cache_folders(needs))
    if (folder.is_absolute()) fs::create_directories(folder, ignored);
}

FileRules file_rules(const FileNeeds& needs) {
  Collector rules;
  // CUDA's driver and the worker start programs of the system. The compiler has stricter rules of its own.
  const FileAccess programs = needs.role == Role::CudaWorker ? FileAccess::Execute : FileAccess::Read;
  rules.add_all(kSystemFolders, programs);
  for (const char* file : kSystemSettings) rules.add_resolved(file, FileAccess::Read);
  rules.add_all(kKernelFiles, FileAccess::Read);
  rules.add_all(kHarmlessDevices, FileAccess::Device);
  add_own_program(rules, programs);
  add_environment(rules);
  add_programs(rules, needs.programs);
  if (needs.role == Role::OpenClWorker) {
    add_programs(rules, compiler_tools());
    add_programs(rules, {compiler::find_compiler()});  // which analyses kernels
  }
  if (needs.role == Role::Compiler) return rules.take();
  add_drivers(rules);
  add_devices(rules);
  if (needs.rdma) add_rdma(rules);
  if (needs.cufile) add_cufile(rules);
  // CUDA's driver writes the names of its threads there, and does not start otherwise.
  rules.add("/proc/self/task", FileAccess::Write);
  if (needs.role == Role::CudaWorker) {
    // The compiler looks for the SPIR-V translator in PATH.
    add_programs(rules, split(environment("PATH").value_or("")));
    add_programs(rules, {environment("CLIQUE_COMPILER").value_or(""),
                         environment("CLIQUE_SPIRV_TRANSLATOR").value_or("")});
  }
  add_places_to_write(rules, needs);
  return rules.take();
}

}  // namespace clique::daemon::confinement
