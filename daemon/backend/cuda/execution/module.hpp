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
  compiler::Kernel kernel;           ///< the binary's, with parameters where the machine code has them
  std::uint32_t most_items = 0;      ///< of a work-group
  std::uint32_t static_local = 0;    ///< bytes of local memory that the code itself has
  std::uint32_t local_begin = 0;     ///< address in local memory of what a launch adds
  std::uint32_t dynamic_local = 0;   ///< most bytes that a launch may add
  std::uint32_t private_memory = 0;  ///< bytes for each work-item
  std::unique_ptr<Launches> launches = std::make_unique<Launches>();
};

/// An executable program on the GPU. Its destructor unloads it.
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
  /// Null where there is no kernel of the name.
  const Function* find(const std::string& name) const;

 private:
  std::shared_ptr<const compiler::ProgramBinary> binary_;
  CUmodule native_ = nullptr;
  std::vector<Function> functions_;
};

/// Has the driver make machine code for the current context's GPU from PTX.
/// @param log what the driver says is added to it
/// Throws ClError.
protocol::Bytes assemble(const protocol::Bytes& ptx, std::string& log);

/// Where in the dynamic local memory the local arguments lie, and how much of it there is.
struct LocalLayout {
  std::vector<std::uint32_t> offsets;  ///< of each local argument, in the order of the arguments
  std::uint32_t size = 0;
};
/// @param begin Function::local_begin, from which alignment counts
/// @param sizes of the local arguments. Throws ClError(CL_OUT_OF_RESOURCES) where 32 bits are not enough.
LocalLayout lay_out_local(const compiler::Kernel& kernel, std::uint32_t begin,
                          const std::vector<std::uint64_t>& sizes);

/// How much local memory the machine code of a kernel has, in bytes, what the hardware reserves included.
std::uint32_t own_local_size(const protocol::Bytes& code, const std::string& kernel);

/// Writes what a launch adds to the arguments into the parameter block.
void put_hidden(std::vector<std::uint8_t>& block, const compiler::Kernel& kernel, const NdRange& range,
                const Grid& grid, CUdeviceptr printf_buffer);
/// Whether the kernel has the hidden argument.
bool has_hidden(const compiler::Kernel& kernel, compiler::Hidden what);

}  // namespace clique::daemon::cuda
