// What a worker and clique-compiler, which reads the sources of clients, send to each other.
#include <CL/cl.h>

#include "daemon/compiler/contract/message_io.hpp"
#include "daemon/compiler/contract/program_binary.hpp"
#include "daemon/compiler/contract/request.hpp"
#include "tests/fuzz/filler.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_compiler_messages {
namespace {

using namespace clique::daemon::compiler;

template <typename T>
std::string record_of(const T& value) {
  const protocol::Buffer bytes = encode(value);
  return {bytes.data(), bytes.size()};
}

template <typename T>
void read(std::span<const std::uint8_t> record) {
  try {
    const T value = decode<T>(record);
    const std::string again = record_of(value);
    require(
        record_of(decode<T>({reinterpret_cast<const std::uint8_t*>(again.data()), again.size()})) == again,
        "a record is the same after a round trip");
  } catch (const protocol::DecodeError&) {
    return;
  }
}

std::vector<std::string> seeds() {
  auto result = filled<Result>();
  ProgramBinary binary;
  binary.type = CL_PROGRAM_BINARY_TYPE_LIBRARY;
  result.binary = serialize(binary);
  return {record_of(filled<Request>()), record_of(Request()), record_of(result), record_of(Result())};
}

void test(const std::uint8_t* data, std::size_t size) {
  read<Request>({data, size});
  read<Result>({data, size});
}

const Registration kTarget{"compiler_messages", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_compiler_messages
