// What compiling OpenCL C for CUDA makes: code with all that has to be known to launch it. As bytes it is
// what CL_PROGRAM_BINARIES gives for CUDA devices.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "protocol/messages.hpp"

namespace clique::daemon::compiler {

/// How an argument reaches the kernel: `size` bytes at `offset` of the parameter block.
enum class ArgKind : std::uint8_t {
  Value = 0,     ///< its bytes
  Global = 1,    ///< device address (8 bytes), 0 for a null buffer
  Constant = 2,  ///< likewise
  Local = 3,     ///< offset (4 bytes) into the launch's dynamic shared memory, at least Kernel::local_size
  Image = 4,     ///< device address (8 bytes) of a clique_image (library/abi.h)
  Sampler = 5,   ///< 4 bytes (library/abi.h)
  Any = 6,       ///< 8 bytes: a value, or the address of a buffer, whichever it is set to (CUDA C++)
  Dynamic = 7,   ///< not a parameter: local memory that begins where the launch's begins (CUDA C++)
};

/// Whether the argument is local memory, of which the launch tells the size.
constexpr bool is_local(ArgKind kind) {
  return kind == ArgKind::Local || kind == ArgKind::Dynamic;
}

struct Arg {
  ArgKind kind = ArgKind::Value;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::uint32_t alignment = 1;           ///< of a local argument's memory
  protocol::ArgDescription description;  ///< for clGetKernelArgInfo
  CLIQUE_FIELDS(Arg, kind, offset, size, alignment, description)
};

/// What the launch adds to the arguments. Those with dimensions have three consecutive numbers.
///
/// A launch is one grid, unless there are more groups in the second or third dimension than a grid has, or
/// groups at the ends are partial: then it is several, whose ids do not begin at 0 and whose sizes are not
/// the NDRange's. Kernels that take whole groups only know that the first dimension is never taken apart.
enum class Hidden : std::uint8_t {
  IdOffset = 0,       ///< u64 ×3: get_global_id = this + group in the grid × local size + local id
  GlobalOffset = 3,   ///< u64 ×3: get_global_offset
  GlobalSize = 6,     ///< u64 ×3: get_global_size
  GroupOffset = 9,    ///< u32 ×3: get_group_id = this + group in the grid
  NumGroups = 12,     ///< u32 ×3: get_num_groups
  EnqueuedSize = 15,  ///< u32 ×3: get_enqueued_local_size
  WorkDim = 18,       ///< u32
  PrintfBuffer = 19,  ///< device address (u64) of a clique_printf_buffer
};

struct HiddenArg {
  std::uint8_t what = 0;  ///< Hidden, plus the dimension
  std::uint32_t offset = 0;
  CLIQUE_FIELDS(HiddenArg, what, offset)
};

struct Kernel {
  std::string name;
  std::string entry;       ///< the PTX entry's name where it is another one, else empty
  std::string attributes;  ///< CL_KERNEL_ATTRIBUTES
  std::vector<Arg> args;
  std::vector<HiddenArg> hidden;
  std::uint32_t params_size = 0;  ///< of the parameter block
  std::uint32_t local_size = 0;   ///< __local variables that lie at the begin of the dynamic shared memory
  std::uint32_t static_local_size = 0;  ///< bytes of further __local variables, which CUDA places by itself
  std::array<std::uint32_t, 3> required_group{};  ///< reqd_work_group_size, else 0
  std::uint32_t required_sub_group = 0;           ///< intel_reqd_sub_group_size, else 0
  bool uniform_groups = true;  ///< only whole work-groups (OpenCL C 1.x, -cl-uniform-work-group-size)
  bool one_grid = false;       ///< ids are those of the grid: no global offset, one launch (CUDA C++)
  bool driver_prints = false;  ///< through CUDA's own printf

  /// The PTX entry's name.
  const std::string& symbol() const { return entry.empty() ? name : entry; }
  CLIQUE_FIELDS(Kernel, name, entry, attributes, args, hidden, params_size, local_size, static_local_size,
                required_group, required_sub_group, uniform_groups, one_grid, driver_prints)
};

struct ProgramBinary {
  std::uint32_t type = 0;    ///< cl_program_binary_type
  std::string architecture;  ///< "sm_90": the least that the code runs on
  std::string options;
  std::vector<Kernel> kernels;       ///< of an executable
  std::vector<std::string> formats;  ///< of printf, by index
  std::vector<std::string> strings;  ///< for %s, by index
  std::uint64_t global_variables = 0;
  protocol::Bytes code;  ///< PTX (an executable), or LLVM bitcode (compiled objects and libraries)
  CLIQUE_FIELDS(ProgramBinary, type, architecture, options, kernels, formats, strings, global_variables, code)
};

/// Bytes that are not a binary of this version of Clique, damaged, or cut.
class InvalidBinary : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// With magic, version of the format, and a checksum.
protocol::Bytes serialize(const ProgramBinary& binary);
/// Throws InvalidBinary.
ProgramBinary parse_program_binary(std::span<const std::uint8_t> bytes);

}  // namespace clique::daemon::compiler
