#include "daemon/backend/cuda/execution/module.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "daemon/backend/cuda/gpu/room.hpp"

namespace clique::daemon::cuda {

using compiler::Hidden;

namespace {

/// Replaces the description's parameter offsets by those of the machine code: parameters that are aligned to
/// more than 16 bytes lie at different places on each architecture. Throws ClError if the parameters' sizes
/// differ.
void place_parameters(CUfunction function, compiler::Kernel& kernel) {
  std::size_t index = 0;
  kernel.params_size = 0;
  const auto place = [&](std::uint32_t& offset, std::uint32_t least, std::uint32_t most) {
    std::size_t at = 0;
    std::size_t size = 0;
    CLIQUE_CUDA(FuncGetParamInfo(function, index++, &at, &size));
    if (size < least || size > most)
      throw ClError(CL_INVALID_BINARY, "parameter " + std::to_string(index - 1) + " of kernel '" +
                                           kernel.name + "' has " + std::to_string(size) +
                                           " bytes in the machine code; its description says " +
                                           std::to_string(least));
    offset = static_cast<std::uint32_t>(at);
    kernel.params_size = std::max(kernel.params_size, static_cast<std::uint32_t>(at + size));
  };
  for (compiler::Arg& arg : kernel.args)
    if (arg.kind != compiler::ArgKind::Dynamic) place(arg.offset, arg.size, arg.size);
  for (compiler::HiddenArg& hidden : kernel.hidden) place(hidden.offset, 4, 8);
}

}  // namespace

Module::Module(std::shared_ptr<const compiler::ProgramBinary> binary, const protocol::Bytes& code,
               std::uint32_t most_local)
    : binary_(std::move(binary)) {
  check(when_there_is_room([&] { return driver().ModuleLoadData(&native_, code.data()); }),
        "cuModuleLoadData");
  try {
    for (const compiler::Kernel& kernel : binary_->kernels) {
      Function function;
      function.kernel = kernel;
      CLIQUE_CUDA(ModuleGetFunction(&function.native, native_, kernel.symbol().c_str()));
      place_parameters(function.native, function.kernel);
      const auto attribute = [&function](CUfunction_attribute name) {
        int value = 0;
        CLIQUE_CUDA(FuncGetAttribute(&value, name, function.native));
        return static_cast<std::uint32_t>(std::max(value, 0));
      };
      function.most_items = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
      function.static_local = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
      function.private_memory = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
      function.local_begin = own_local_size(code, kernel.symbol());
      function.dynamic_local = most_local - std::min(most_local, function.static_local);
      // More than 48 KiB have to be asked for.
      if (function.dynamic_local > attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES))
        CLIQUE_CUDA(FuncSetAttribute(function.native, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     static_cast<int>(function.dynamic_local)));
      functions_.push_back(std::move(function));
    }
  } catch (...) {
    static_cast<void>(driver().ModuleUnload(native_));
    throw;
  }
}

Module::~Module() {
  functions_.clear();
  static_cast<void>(driver().ModuleUnload(native_));
}

const Function* Module::find(const std::string& name) const {
  const auto found = std::find_if(functions_.begin(), functions_.end(),
                                  [&](const Function& function) { return function.kernel.name == name; });
  return found == functions_.end() ? nullptr : &*found;
}

protocol::Bytes assemble(const protocol::Bytes& ptx, std::string& log) {
  std::array<char, 16 << 10> errors{};
  std::array<char, 4 << 10> infos{};
  std::array<CUjit_option, 4> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                      CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  // CUDA takes sizes cast to pointers. NOLINTBEGIN(performance-no-int-to-ptr)
  std::array<void*, 4> values{errors.data(), reinterpret_cast<void*>(errors.size()), infos.data(),
                              reinterpret_cast<void*>(infos.size())};
  // NOLINTEND(performance-no-int-to-ptr)
  CUlinkState state = nullptr;
  CLIQUE_CUDA(LinkCreate(static_cast<unsigned>(options.size()), options.data(), values.data(), &state));
  // The driver expects PTX as a string that ends with a 0.
  std::string text(ptx.begin(), ptx.end());
  void* code = nullptr;
  std::size_t size = 0;
  CUresult result = driver().LinkAddData(state, CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "program", 0,
                                         nullptr, nullptr);
  if (result == CUDA_SUCCESS) result = driver().LinkComplete(state, &code, &size);
  protocol::Bytes bytes;
  if (result == CUDA_SUCCESS) {
    const auto* begin = static_cast<const std::uint8_t*>(code);
    bytes.assign(begin, begin + size);
  }
  static_cast<void>(driver().LinkDestroy(state));
  for (const char* said : {errors.data(), infos.data()})
    if (*said != '\0') log += std::string(log.empty() || log.ends_with('\n') ? "" : "\n") + said + "\n";
  if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
    throw ClError(
        CL_INVALID_BINARY,
        "the program was compiled by an NVRTC that is later than this node's driver: update the driver, "
        "or set CLIQUE_NVRTC to the libnvrtc of an older CUDA");
  check(result, "cuLinkComplete");
  return bytes;
}

std::uint32_t own_local_size(const protocol::Bytes& code, const std::string& kernel) {
  // The driver gives the size that a kernel declares. But the linker aligns what follows to only 16 bytes,
  // whatever the declaration says, so the place is needed. Only the code, an ELF file, has it.
  const auto read = [&code](auto& to, std::uint64_t offset) {
    if (offset > code.size() || sizeof to > code.size() - offset) return false;
    std::memcpy(&to, code.data() + offset, sizeof to);
    return true;
  };
  Elf64_Ehdr header{};
  Elf64_Shdr names{};
  if (!read(header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      !read(names, header.e_shoff + std::uint64_t{header.e_shstrndx} * header.e_shentsize))
    return 0;
  const std::string wanted = ".nv.shared." + kernel;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section{};
    if (!read(section, header.e_shoff + std::uint64_t{i} * header.e_shentsize)) return 0;
    const std::uint64_t name = names.sh_offset + section.sh_name;
    if (name < code.size() && wanted.size() < code.size() - name && code[name + wanted.size()] == 0 &&
        std::equal(wanted.begin(), wanted.end(), code.begin() + static_cast<std::ptrdiff_t>(name)))
      return static_cast<std::uint32_t>(section.sh_size);
  }
  return 0;
}

LocalLayout lay_out_local(const compiler::Kernel& kernel, std::uint32_t begin,
                          const std::vector<std::uint64_t>& sizes) {
  LocalLayout layout;
  std::uint64_t end = kernel.local_size;
  std::size_t next = 0;
  for (const compiler::Arg& arg : kernel.args) {
    if (!compiler::is_local(arg.kind) || next >= sizes.size()) continue;
    const std::uint64_t alignment = std::max<std::uint32_t>(arg.alignment, 1);
    end = (begin + end + alignment - 1) / alignment * alignment - begin;
    layout.offsets.push_back(static_cast<std::uint32_t>(end));
    if (__builtin_add_overflow(end, sizes[next++], &end) || end > std::numeric_limits<std::uint32_t>::max())
      throw ClError(CL_OUT_OF_RESOURCES,
                    "the local arguments of kernel '" + kernel.name + "' have 4 GiB or more");
  }
  layout.size = static_cast<std::uint32_t>(end);
  return layout;
}

void put_hidden(std::vector<std::uint8_t>& block, const compiler::Kernel& kernel, const NdRange& range,
                const Grid& grid, CUdeviceptr printf_buffer, CUdeviceptr access_checks) {
  for (const compiler::HiddenArg& hidden : kernel.hidden) {
    const auto put = [&](auto value) {
      if (hidden.offset + sizeof value <= block.size())
        std::memcpy(block.data() + hidden.offset, &value, sizeof value);
    };
    const auto is = [&](Hidden what) {
      const auto first = static_cast<std::uint8_t>(what);
      return hidden.what >= first && hidden.what < first + 3;
    };
    const std::size_t dimension = hidden.what % 3;
    if (is(Hidden::IdOffset))
      put(grid.first_item[dimension]);
    else if (is(Hidden::GlobalOffset))
      put(range.offset[dimension]);
    else if (is(Hidden::GlobalSize))
      put(range.global[dimension]);
    else if (is(Hidden::GroupOffset))
      put(grid.first_group[dimension]);
    else if (is(Hidden::NumGroups))
      put(static_cast<std::uint32_t>(range.groups(dimension)));
    else if (is(Hidden::EnqueuedSize))
      put(static_cast<std::uint32_t>(range.local[dimension]));
    else if (hidden.what == static_cast<std::uint8_t>(Hidden::WorkDim))
      put(range.dimensions);
    else if (hidden.what == static_cast<std::uint8_t>(Hidden::PrintfBuffer))
      put(std::uint64_t{printf_buffer});
    else if (hidden.what == static_cast<std::uint8_t>(Hidden::AccessChecks))
      put(std::uint64_t{access_checks});
  }
}

bool has_hidden(const compiler::Kernel& kernel, Hidden what) {
  return std::any_of(kernel.hidden.begin(), kernel.hidden.end(), [what](const compiler::HiddenArg& hidden) {
    return hidden.what == static_cast<std::uint8_t>(what);
  });
}

}  // namespace clique::daemon::cuda
