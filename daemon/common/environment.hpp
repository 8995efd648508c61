// The environment variables of cliqued, its workers and clique-compiler. Nothing else in daemon/ reads or
// writes the environment. docs/configuration.md describes the variables to users.
#pragma once

#include <array>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace clique::daemon {

struct VariableInfo {
  std::string_view name;
  std::string_view meaning;
};

inline constexpr std::array kVariables{
    // Set by users.
    VariableInfo{"CLIQUE_CACHE", "0: compiled programs are not kept on disk"},
    VariableInfo{"CLIQUE_CACHE_DIR", "folder in which compiled programs are kept"},
    VariableInfo{"CLIQUE_CACHE_MIB", "how much of compiled programs is kept, in MiB"},
    VariableInfo{"CLIQUE_COMPILER", "path of clique-compiler"},
    VariableInfo{"CLIQUE_CONFINEMENT",
                 "whether workers get walls, as --confinement of cliqued, which sets it"},
    VariableInfo{"CLIQUE_CUFILE", "when private workers read files through cuFile, as --cufile of cliqued"},
    VariableInfo{"CLIQUE_FILE_ROOTS",
                 "folders whose files private workers may use, as --file-roots of cliqued; empty: all"},
    VariableInfo{"CLIQUE_HOST_DEVICES", "devices that private workers offer, as --devices of cliqued"},
    VariableInfo{"CLIQUE_LIBDEVICE", "path of NVIDIA's libdevice.10.bc; empty: it is not used"},
    VariableInfo{"CLIQUE_NODE_ICD_VENDORS", "OCL_ICD_VENDORS of workers"},
    VariableInfo{"CLIQUE_NVIDIA", "how private workers use NVIDIA GPUs, as --nvidia of cliqued"},
    VariableInfo{"CLIQUE_NVRTC", "path of NVIDIA's libnvrtc.so; empty: no CUDA C++"},
    VariableInfo{"CLIQUE_SPIN_US", "how long a waiting thread polls before it sleeps, in microseconds"},
    VariableInfo{"CLIQUE_SPIRV_TRANSLATOR", "path of Khronos' llvm-spirv; empty: no SPIR-V"},
    VariableInfo{"POCL_CACHE_DIR", "PoCL's cache; cliqued sets it for workers if it is not set"},
    // Set by the system.
    VariableInfo{"CUDA_CACHE_PATH", "where NVIDIA's driver keeps compiled programs, if not in ~/.nv"},
    VariableInfo{"CUDA_HOME", "the CUDA toolkit"},
    VariableInfo{"CUDA_MPS_PIPE_DIRECTORY", "where NVIDIA's Multi-Process Service is"},
    VariableInfo{"CUDA_PATH", "the CUDA toolkit, if it is not in CUDA_HOME"},
    VariableInfo{"CUFILE_ALLOW_COMPAT_MODE", "set for workers, as the setting cufile says"},
    VariableInfo{"CUFILE_ENV_PATH_JSON", "cuFile's configuration, if it is not /etc/cufile.json"},
    VariableInfo{"CUFILE_LOGFILE_PATH", "where cuFile logs; workers set it to /dev/null if it is not set"},
    VariableInfo{"HOME", "the user's folder, for ~/.cache"},
    VariableInfo{"JOURNAL_STREAM", "set by systemd: log lines have no time stamps"},
    VariableInfo{"LD_LIBRARY_PATH", "folders of libraries, which workers may read"},
    VariableInfo{"LD_PRELOAD", "libraries, which workers may read"},
    VariableInfo{"NOTIFY_SOCKET", "set by systemd: cliqued reports there that it is ready"},
    VariableInfo{"PATH", "where llvm-spirv and linkers are looked for"},
    VariableInfo{"TMPDIR", "the folder for temporary files"},
    VariableInfo{"XDG_CACHE_HOME", "the user's caches, if they are not in ~/.cache"},
    VariableInfo{"XDG_RUNTIME_DIR", "replaces PoCL's cache when its disk is full"},
    // Not inherited by workers, whose OpenCL loader must find the node's drivers and nothing else.
    VariableInfo{"OCL_ICD_VENDORS", "the application's OpenCL drivers"},
    VariableInfo{"OCL_ICD_FILENAMES", "the application's OpenCL drivers"},
    VariableInfo{"OPENCL_LAYERS", "the application's OpenCL layers"},
    // Set by cliqued.
    VariableInfo{"CLIQUE_WORKER", "set for workers, in which libclique.so offers no platform"},
};

/// The name of one of kVariables; any other name does not compile.
class Variable {
 public:
  consteval Variable(const char* name) : name_(name) {
    bool known = false;
    for (const VariableInfo& variable : kVariables) known = known || variable.name == name;
    if (!known) throw "add the variable to kVariables";
  }
  constexpr const char* name() const { return name_; }

 private:
  const char* name_;
};

/// @returns the variable's value; nothing when it is not set
std::optional<std::string> environment(Variable variable);

/// Sets the variable in this process, and in those that it starts from now on.
void set_environment(Variable variable, const std::string& value);

/// The user's folder for caches: $XDG_CACHE_HOME, or ~/.cache. Empty when the environment names neither.
std::filesystem::path user_cache_folder();

/// The roots of CUDA toolkits: those that the environment names, then those of packages. They need not exist.
std::vector<std::string> cuda_toolkits();
/// The folders in which to look for a toolkit's libraries, in this order. The empty one stands for the
/// loader's search path.
std::vector<std::string> cuda_library_folders();

/// All variables of this process but `removed`, each as NAME=VALUE.
std::vector<std::string> environment_without(std::initializer_list<Variable> removed);

}  // namespace clique::daemon
