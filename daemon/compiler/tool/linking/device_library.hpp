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
