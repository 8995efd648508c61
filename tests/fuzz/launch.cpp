// Launches on CUDA: any range, of any kernel that a client's program binary may describe.
#include <CL/cl.h>

#include "daemon/backend/cuda/execution/module.hpp"
#include "daemon/backend/cuda/handlers/kernel_queries.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/signed_binary.hpp"

namespace clique::fuzz::target_launch {
namespace {

using namespace clique::daemon::cuda;
namespace compiler = clique::daemon::compiler;

/// Grids that are worth making here.
constexpr std::uint64_t kMostGrids = 256;
constexpr std::uint32_t kMostItems = 1024;

compiler::Kernel sample() {
  compiler::Kernel kernel;
  kernel.name = "k";
  kernel.params_size = 32;
  for (const auto& [kind, offset, size] : {std::tuple{compiler::ArgKind::Global, 0U, 8U},
                                           {compiler::ArgKind::Local, 8U, 4U},
                                           {compiler::ArgKind::Value, 12U, 4U},
                                           {compiler::ArgKind::Local, 16U, 4U}})
    kernel.args.push_back({kind, offset, size, 8, {}});
  kernel.hidden.push_back({static_cast<std::uint8_t>(compiler::Hidden::GlobalSize), 24});
  return kernel;
}

/// A number of any size; small ones are as likely as large ones.
std::uint64_t any(Input& input) {
  const unsigned shift = input.number<std::uint8_t>() % 64U;
  return input.number<std::uint64_t>() >> shift;
}

NdRange any_range(Input& input) {
  NdRange range;
  range.dimensions = 1 + input.number<std::uint8_t>() % 3U;
  for (std::size_t i = 0; i < range.dimensions; ++i) {
    range.offset.at(i) = any(input);
    range.global.at(i) = std::max<std::uint64_t>(any(input), 1);
    range.local.at(i) = std::max<std::uint64_t>(any(input) % (2U * kMostItems), 1);
  }
  return range;
}

/// Each work-group is in one grid.
void check_grids(const NdRange& range, const std::vector<Grid>& grids) {
  std::uint64_t groups = 0;
  for (const Grid& grid : grids) {
    groups += std::uint64_t{grid.groups[0]} * grid.groups[1] * grid.groups[2];
    for (std::size_t i = 0; i < 3; ++i)
      require(grid.groups.at(i) > 0 && grid.items.at(i) > 0, "no grid is empty");
  }
  require(groups == range.groups(0) * range.groups(1) * range.groups(2), "all work-groups are launched");
}

void launch(const compiler::Kernel& kernel, const NdRange& range, const std::vector<std::uint64_t>& local) {
  const GridLimits limits;
  try {
    const LocalLayout layout = lay_out_local(kernel, 1024, local);
    for (const std::uint32_t offset : layout.offsets)
      require(offset <= layout.size, "local arguments lie in the local memory");
  } catch (const daemon::ClError&) {
    return;
  }
  const std::uint64_t count = count_grids(range, limits);
  if (count > kMostGrids) return;
  const auto grids = split(range, limits);
  require(grids.size() == count, "the number of grids is known before");
  check_grids(range, grids);
  std::vector<std::uint8_t> block(kernel.params_size);
  for (const Grid& grid : grids) put_hidden(block, kernel, range, grid, 1);
}

/// An input is the range, the sizes of two local arguments, whether the local size is chosen, and a binary.
std::vector<std::string> seeds() {
  std::vector<std::string> all;
  for (const std::array<std::uint32_t, 3> required : {std::array<std::uint32_t, 3>{}, {8, 4, 1}}) {
    compiler::ProgramBinary binary;
    binary.type = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    binary.kernels.push_back(sample());
    std::copy(required.begin(), required.end(), binary.kernels[0].required_group.begin());
    const protocol::Bytes bytes = compiler::serialize(binary);
    for (const std::uint8_t chosen : {0, 1}) {
      Output output;
      output.number(std::uint8_t{2});
      for (std::uint64_t i = 1; i <= 9; ++i) output.number(std::uint8_t{0}).number(i * 100);
      output.number(std::uint8_t{0})
          .number(std::uint64_t{12})
          .number(std::uint8_t{0})
          .number(std::uint64_t{5});
      all.push_back(output.number(chosen).text() + std::string(bytes.begin(), bytes.end()));
    }
  }
  return all;
}

void test(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const NdRange range = any_range(input);
  const std::vector<std::uint64_t> local{any(input), any(input)};
  const bool chosen = (input.number<std::uint8_t>() & 1U) != 0;
  const std::string_view rest = text_of(input.rest());
  protocol::Bytes bytes(rest.begin(), rest.end());
  sign(bytes);
  try {
    for (const compiler::Kernel& kernel : compiler::parse_program_binary(bytes).kernels) {
      Function function;
      function.kernel = kernel;
      function.most_items = kMostItems;
      NdRange own = range;
      if (chosen) choose_local_size(function, {}, own);
      launch(kernel, own, local);
    }
  } catch (const compiler::InvalidBinary&) {
    return;
  }
}

const Registration kTarget{"launch", seeds, test};

}  // namespace
}  // namespace clique::fuzz::target_launch
