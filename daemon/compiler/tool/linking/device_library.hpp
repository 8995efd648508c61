// The builtin functions that programs call: Clique's own over libclc's over what NVIDIA gives (libdevice).
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "daemon/compiler/tool/packing/pack.hpp"

namespace llvm {
class MemoryBuffer;
class Module;
}  // namespace llvm

namespace clique::daemon::compiler {

/// Names in libdevice.
inline constexpr const char* kLibdevicePrefix = "__nv_";

/// Ranks of definitions in the pack.
inline constexpr std::uint32_t kOwnRank = 0;
inline constexpr std::uint32_t kLibclcRank = 1;

/// Compiles one source of the device library, or merges such files with libclc's and takes them apart.
protocol::Bytes compile_library_source(const std::string& path, const std::string& options);
/// @param modules bitcode files of rank kOwnRank; `fallback`: one of rank kLibclcRank, or empty
protocol::Bytes pack_library(const std::vector<std::string>& modules, const std::string& fallback);

/// Opened once per process. Not thread-safe.
class DeviceLibrary {
 public:
  /// @param path the pack; empty: the one beside this program. Throws std::runtime_error with a reason.
  explicit DeviceLibrary(const std::string& path);
  ~DeviceLibrary();
  DeviceLibrary(const DeviceLibrary&) = delete;
  DeviceLibrary& operator=(const DeviceLibrary&) = delete;

  /// Adds the definitions that the module lacks and the library has.
  void link_into(llvm::Module& module) const;

 private:
  class Linking;
  std::unique_ptr<llvm::MemoryBuffer> file_;
  std::optional<Pack> pack_;
  std::unique_ptr<llvm::MemoryBuffer> libdevice_;
};

}  // namespace clique::daemon::compiler
