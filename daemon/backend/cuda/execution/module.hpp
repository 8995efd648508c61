#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "daemon/backend/cuda/execution/launches.hpp"
#include "daemon/backend/cuda/execution/nd_range.hpp"
#include "daemon/backend/cuda/gpu/driver.hpp"
#include "daemon/compiler/contract/program_binary.hpp"

namespace clique::daemon::cuda {

/// A kernel in a loaded module.
struct Function {
  CUfunction native = nullptr;
  compiler::Kernel kernel;       ///< the binary's description, with the parameter offsets of the machine code
  std::uint32_t most_items = 0;  ///< work-items that a work-group can have
  std::uint32_t static_local = 0;    ///< bytes of local memory that the code itself uses
  std::uint32_t local_begin = 0;     ///< address in local memory of what a launch adds
  std::uint32_t dynamic_local = 0;   ///< bytes of local memory that a launch can add
  std::uint32_t private_memory = 0;  ///< bytes per work-item
  std::unique_ptr<Launches> launches = std::make_unique<Launches>();
};

/// An executable program that is loaded on the GPU. Its destructor unloads it.
class Module {
 public:
  /// Loads machine code. Any thread whose current context is the GPU's.
  /// @param most_local bytes of local memory that a work-group can have
  /// Throws ClError.
  Module(std::shared_ptr<const compiler::ProgramBinary> binary, const protocol::Bytes& code,
         std::uint32_t most_local);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  const compiler::ProgramBinary& binary() const { return *binary_; }
  const std::vector<Function>& functions() const { return functions_; }
  /// Null if there is no kernel of this name.
  const Function* find(const std::string& name) const;

 private:
  std::shared_ptr<const compiler::ProgramBinary> binary_;
  CUmodule native_ = nullptr;
  std::vector<Function> functions_;
};

/// Has the driver compile PTX to machine code for the GPU of the current context. Throws ClError.
/// @param log the driver's messages are appended to it
protocol::Bytes assemble(const protocol::Bytes& ptx, std::string& log);

/// Where the local arguments of a launch lie in the local memory that it adds.
struct LocalLayout {
  std::vector<std::uint32_t> offsets;  ///< of each local argument, in the order of the arguments
  std::uint32_t size = 0;              ///< bytes of all of them
};
/// @param begin Function::local_begin: addresses are aligned, not offsets
/// @param sizes of the local arguments, in bytes
/// Throws ClError(CL_OUT_OF_RESOURCES) if the size does not fit into 32 bits.
LocalLayout lay_out_local(const compiler::Kernel& kernel, std::uint32_t begin,
                          const std::vector<std::uint64_t>& sizes);

/// How many bytes of local memory the machine code of a kernel uses itself, including what the hardware
/// reserves; 0 if the code does not say.
std::uint32_t own_local_size(const protocol::Bytes& code, const std::string& kernel);

/// Writes the hidden arguments of a grid into the parameter block.
/// @param access_checks 0: nothing is checked
void put_hidden(std::vector<std::uint8_t>& block, const compiler::Kernel& kernel, const NdRange& range,
                const Grid& grid, CUdeviceptr printf_buffer, CUdeviceptr access_checks = 0);
/// Whether the kernel has the hidden argument.
bool has_hidden(const compiler::Kernel& kernel, compiler::Hidden what);

}  // namespace clique::daemon::cuda
