// Program binaries, as the CUDA backend unpacks them: any bytes, and any content with a header that fits it.
#include "daemon/compiler/contract/program_binary.hpp"

#include <CL/cl.h>

#include "daemon/compiler/contract/printf_format.hpp"
#include "tests/fuzz/filler.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/signed_binary.hpp"

namespace clique::fuzz::target_program_binary {
namespace {

using namespace clique::daemon::compiler;

ProgramBinary sample() {
  auto binary = filled<ProgramBinary>();
  binary.type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
  Kernel& kernel = binary.kernels[0];
  kernel.params_size = 64;
  kernel.args[0] = {ArgKind::Global, 0, 8, 1, kernel.args[0].description};
  kernel.hidden[0] = {static_cast<std::uint8_t>(Hidden::PrintfBuffer), 8};
  return binary;
}

std::vector<std::string> seeds() {
  ProgramBinary library;
  library.type = CL_PROGRAM_BINARY_TYPE_LIBRARY;
  std::vector<std::string> all;
  for (const ProgramBinary& binary : {sample(), library}) {
    const protocol::Bytes bytes = serialize(binary);
    for (const char mode : {'\0', '\1'}) all.push_back(mode + std::string(bytes.begin(), bytes.end()));
  }
  return all;
}

void test(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const bool correct = (input.number<std::uint8_t>() & 1U) != 0;
  const auto rest = text_of(input.rest());
  protocol::Bytes bytes(rest.begin(), rest.end());
  if (correct) sign(bytes);
  try {
    const ProgramBinary binary = parse_program_binary(bytes);
    for (const Kernel& kernel : binary.kernels)
      for (const Arg& arg : kernel.args)
        require(arg.offset <= kernel.params_size && arg.size <= kernel.params_size - arg.offset,
                "arguments lie in the parameter block");
    const protocol::Bytes again = serialize(binary);
    require(serialize(parse_program_binary(again)) == again, "a binary is the same after a round trip");
  } catch (const InvalidBinary&) {
    return;
  }
}

const Registration kTarget{"program_binary", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_program_binary
