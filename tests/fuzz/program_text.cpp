// What the worker reads of programs itself: build options, SPIR-V, PTX of CUDA C++.
#include <stdexcept>

#include "daemon/compiler/contract/build_options.hpp"
#include "daemon/compiler/contract/spirv.hpp"
#include "daemon/compiler/nvrtc/ptx_kernels.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_program_text {
namespace {

std::vector<std::string> seeds() {
  return {"-x cuda -I 'a b' -D \"N=\\\"1\\\"\" -cl-std=CL3.0",
          Output()
              .number(std::uint32_t{0x07230203})
              .number(std::uint32_t{0x10000})
              .number(std::uint64_t{0})
              .number(std::uint32_t{0})
              .number(std::uint32_t{0x20011})
              .number(std::uint32_t{6})
              .text(),
          R"(.version 8.1
.target sm_90
.address_size 64
.extern .shared .align 4 .b8 buffer[];
.func (.param .b32 func_retval0) _Z4helpi(.param .b32 _Z4helpi_param_0)
{
 mov.u64 %rd1, buffer;
}
.visible .entry _Z4axpyIfEvT_PS0_(
 .param .f32 _Z4axpyIfEvT_PS0__param_0,
 .param .u64 .ptr .global .align 4 _Z4axpyIfEvT_PS0__param_1,
 .param .align 8 .b8 _Z4axpyIfEvT_PS0__param_2[24]
)
.reqntid 64, 1, 1
{
 call.uni (retval0), _Z4helpi, (param0);
 ret;
}
)"};
}

void test(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(std::as_bytes(std::span(data, size)));
  daemon::compiler::is_spirv({data, size});
  daemon::compiler::is_cuda_source(text);
  try {
    daemon::compiler::split_options(text);
  } catch (const std::runtime_error&) {
    // An option that cannot be split; the rest is read anyway.
  }
  try {
    daemon::compiler::kernels_of_ptx(text);
  } catch (const std::runtime_error&) {
    return;
  }
}

const Registration kTarget{"program_text", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_program_text
