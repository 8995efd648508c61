// SPIR-V modules of any content, as the client specializes them before it sends them.
#include "icd/core/programs/spirv.hpp"

#include "icd/common/error.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz::target_spirv {
namespace {

/// A module with a specialization constant of each kind, numbered from 0.
std::string sample() {
  Output output;
  const auto words = [&](std::initializer_list<std::uint32_t> values) {
    for (const std::uint32_t value : values) output.number(value);
  };
  const auto op = [](std::uint32_t count, std::uint32_t code) { return count << 16U | code; };
  words({0x07230203, 0x10000, 0, 20, 0});
  for (std::uint32_t id = 0; id < 4; ++id) words({op(4, 71), 10 + id, 1, id});
  words({op(2, 20), 1, op(4, 21), 2, 32, 1, op(4, 21), 3, 64, 0, op(3, 22), 4, 16});
  words({op(3, 48), 1, 10, op(4, 50), 2, 11, 5, op(5, 50), 3, 12, 6, 0, op(4, 50), 4, 13, 7});
  return output.text();
}

/// An input is the constant's number, the size of its value, the value, and the module.
std::vector<std::string> seeds() {
  std::vector<std::string> all;
  const std::array<std::uint8_t, 4> sizes{1, 4, 8, 2};
  for (std::uint8_t id = 0; const std::uint8_t size : sizes)
    all.push_back(Output().number(id++).number(size).bytes(std::string(size, '\x81')).bytes(sample()).text());
  return all;
}

void test(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const cl_uint constant = input.number<std::uint8_t>();
  const auto value = input.block(input.number<std::uint8_t>());
  const std::string_view rest = text_of(input.rest());
  protocol::Bytes module(rest.begin(), rest.end());
  try {
    icd::specialize_spirv(module, constant, *value);
    require(module.size() == rest.size(), "a module keeps its size");
    const protocol::Bytes once = module;
    icd::specialize_spirv(module, constant, *value);
    require(module == once, "a value that is set twice changes nothing more");
  } catch (const icd::Error&) {
    return;
  }
}

const Registration kTarget{"spirv", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_spirv
