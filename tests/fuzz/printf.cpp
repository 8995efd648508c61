// What a kernel leaves in its printf buffer, and format strings of any program binary.
#include <algorithm>

#include "daemon/compiler/contract/printf_format.hpp"
#include "daemon/compiler/library/abi.h"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_printf {
namespace {

using namespace clique::daemon::compiler;

/// An input is the length of a format, the format, the length of a string, the string, and the buffer.
std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const std::string_view format :
       {"%d %5.2f %s %% %c\n", "%v4hlf|%#x|%-10s|%+lld|%p", "%08.3e %a %hhu %v16hhd %.*f"}) {
    const std::uint32_t size = sizeof(clique_printf_record) + 20 * 8;
    Output output;
    output.number(static_cast<std::uint8_t>(format.size())).bytes(format);
    output.number(std::uint8_t{4}).bytes("text");
    output.number(2 * size).number(2 * size);
    for (std::uint32_t record = 0; record < 2; ++record) {
      output.number(size).number(std::uint32_t{0});
      for (std::uint64_t i = 0; i < 20; ++i) output.number(i % 3 == 2 ? std::uint64_t{0} : i << 52U);
    }
    all.push_back(output.text());
  }
  return all;
}

void test(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  ProgramBinary program;
  program.formats.emplace_back(text_of(input.take(input.number<std::uint8_t>())));
  program.strings.emplace_back(text_of(input.take(input.number<std::uint8_t>())));
  parse_printf_format(program.formats[0]);
  const auto rest = input.rest();
  format_printf_buffer(program, std::vector<std::byte>(rest.begin(), rest.end()));
}

const Registration kTarget{"printf", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_printf
