// The built-in functions that programs call. Clique's own definitions are preferred to libclc's; both may
// call NVIDIA's libdevice.
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

/// The device library's file, and the node's libdevice if there is one. Opened once per process. Not
/// thread-safe.
class DeviceLibrary {
 public:
  /// @param path the pack; empty: device-library.pack beside this program
  /// Throws std::runtime_error if a file cannot be read or is not a pack.
  explicit DeviceLibrary(const std::string& path);
  ~DeviceLibrary();
  DeviceLibrary(const DeviceLibrary&) = delete;
  DeviceLibrary& operator=(const DeviceLibrary&) = delete;

  /// Adds the definition of every function that the module declares, uses, and finds in the library.
  void link_into(llvm::Module& module) const;

 private:
  class Linking;
  std::unique_ptr<llvm::MemoryBuffer> file_;
  std::optional<Pack> pack_;
  std::unique_ptr<llvm::MemoryBuffer> libdevice_;
};

}  // namespace clique::daemon::compiler
