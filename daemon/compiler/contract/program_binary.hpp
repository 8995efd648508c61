// The result of compiling a program for CUDA devices: the code, and all that is needed to launch its kernels.
// In serialised form this is what CL_PROGRAM_BINARIES returns for CUDA devices.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "protocol/descriptions.hpp"

namespace clique::daemon::compiler {

/// How an argument is passed to the kernel: as `size` bytes at `offset` in the parameter block.
enum class ArgKind : std::uint8_t {
  Value = 0,     ///< the bytes that clSetKernelArg was given
  Global = 1,    ///< device address (8 bytes); 0 for a null buffer
  Constant = 2,  ///< the same as Global
  Local = 3,     ///< offset (4 bytes) into the launch's dynamic shared memory, Kernel::local_size or more
  Image = 4,     ///< device address (8 bytes) of a clique_image (library/abi.h)
  Sampler = 5,   ///< 4 bytes (library/abi.h)
  Any = 6,       ///< 8 bytes: a value or a buffer's address, depending on what the program sets (CUDA C++)
  Dynamic = 7,   ///< no parameter: an extern __shared__ array, which is the dynamic shared memory (CUDA C++)
};

/// Whether the argument is local memory, whose size clSetKernelArg gives.
constexpr bool is_local(ArgKind kind) {
  return kind == ArgKind::Local || kind == ArgKind::Dynamic;
}

struct Arg {
  ArgKind kind = ArgKind::Value;
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
  std::uint32_t alignment = 1;           ///< of the memory of a local argument; a power of 2
  protocol::ArgDescription description;  ///< for clGetKernelArgInfo
  CLIQUE_FIELDS(Arg, kind, offset, size, alignment, description)
};

/// A value that the launch passes in addition to the kernel's arguments. Values with a dimension take three
/// consecutive numbers, for x, y and z.
///
/// A launch is one CUDA grid, unless the second or third dimension has more work-groups than a grid allows,
/// or the NDRange has partial work-groups at its ends. Then it is several grids, whose ids do not begin at 0
/// and whose sizes differ from those of the NDRange. The first dimension is never split for kernels that only
/// take whole work-groups.
enum class Hidden : std::uint8_t {
  IdOffset = 0,       ///< u64 ×3: get_global_id = this + group id in the grid × local size + local id
  GlobalOffset = 3,   ///< u64 ×3: get_global_offset
  GlobalSize = 6,     ///< u64 ×3: get_global_size
  GroupOffset = 9,    ///< u32 ×3: get_group_id = this + group id in the grid
  NumGroups = 12,     ///< u32 ×3: get_num_groups
  EnqueuedSize = 15,  ///< u32 ×3: get_enqueued_local_size
  WorkDim = 18,       ///< u32
  PrintfBuffer = 19,  ///< device address (u64) of a clique_printf_buffer
  AccessChecks = 20,  ///< device address (u64) of a clique_access_checks; 0: nothing is checked
};

struct HiddenArg {
  std::uint8_t what = 0;     ///< a Hidden plus the dimension (0 to 2)
  std::uint32_t offset = 0;  ///< in the parameter block
  CLIQUE_FIELDS(HiddenArg, what, offset)
};

struct Kernel {
  std::string name;
  std::string entry;       ///< name of the PTX entry if it differs from `name`, otherwise empty
  std::string attributes;  ///< CL_KERNEL_ATTRIBUTES
  std::vector<Arg> args;
  std::vector<HiddenArg> hidden;
  std::uint32_t params_size = 0;  ///< bytes of the parameter block
  std::uint32_t local_size = 0;  ///< bytes of __local variables at the beginning of the dynamic shared memory
  std::uint32_t static_local_size = 0;  ///< bytes of the other __local variables, which CUDA places itself
  std::array<std::uint32_t, 3> required_group{};  ///< reqd_work_group_size; 0: none
  std::uint32_t required_sub_group = 0;           ///< intel_reqd_sub_group_size; 0: none
  bool uniform_groups = true;  ///< takes whole work-groups only (OpenCL C 1.x, -cl-uniform-work-group-size)
  /// A launch may run some of the work-groups of a range. Otherwise, kernels with uniform groups take the
  /// sizes and ids of the first dimension from the grid.
  bool in_parts = false;
  bool one_grid = false;       ///< uses the ids of the grid: no global offset, always one grid (CUDA C++)
  bool driver_prints = false;  ///< prints through CUDA's own printf

  /// The name of the PTX entry.
  const std::string& symbol() const { return entry.empty() ? name : entry; }
  CLIQUE_FIELDS(Kernel, name, entry, attributes, args, hidden, params_size, local_size, static_local_size,
                required_group, required_sub_group, uniform_groups, in_parts, one_grid, driver_prints)
};

struct ProgramBinary {
  std::uint32_t type = 0;    ///< cl_program_binary_type
  std::string architecture;  ///< such as "sm_90": the oldest that the code runs on
  std::string options;
  std::vector<Kernel> kernels;         ///< only in an executable
  std::vector<std::string> formats;    ///< of printf; records refer to them by index
  std::vector<std::string> strings;    ///< constants printed with %s; records refer to them by index
  std::uint64_t global_variables = 0;  ///< bytes: CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE
  protocol::Bytes code;  ///< PTX (an executable), or LLVM bitcode (compiled objects and libraries)
  CLIQUE_FIELDS(ProgramBinary, type, architecture, options, kernels, formats, strings, global_variables, code)
};

/// The bytes are not a program binary of this version of Clique, or are damaged or cut short.
class InvalidBinary : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The binary as bytes: a header with magic number, format version and checksum, then the content.
protocol::Bytes serialize(const ProgramBinary& binary);
/// The reverse of serialize(). Throws InvalidBinary.
ProgramBinary parse_program_binary(std::span<const std::uint8_t> bytes);

}  // namespace clique::daemon::compiler
