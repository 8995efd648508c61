#include "daemon/backend/cuda/execution/access_checks.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "daemon/compiler/library/abi.h"

namespace clique::daemon::cuda {

const std::size_t AccessChecks::kFetched = sizeof(clique_access_checks);

AccessChecks::AccessChecks(DeviceMemory& memory, std::vector<Argument> arguments,
                           const std::vector<protocol::ExpectedAccess>& expected,
                           std::shared_ptr<std::byte> host)
    : arguments_(std::move(arguments)), host_(std::move(host)) {
  std::vector<clique_expected_range> ranges;
  const auto add = [&](const Argument& argument, const std::vector<protocol::ByteRange>& of, bool writes) {
    for (const protocol::ByteRange& range : of) {
      const std::uint64_t end = range.offset + range.size;
      if (argument.image != 0) ranges.push_back({argument.image, range.offset, end, writes ? 1U : 0U, 0});
      if (argument.begin != 0)
        ranges.push_back({0, argument.begin + range.offset, argument.begin + end, writes ? 1U : 0U, 0});
    }
  };
  for (std::size_t i = 0; i < expected.size(); ++i) {
    add(arguments_[i], expected[i].reads, false);
    add(arguments_[i], expected[i].writes, true);
  }
  clique_access_checks header{};
  header.ranges = static_cast<clique_u32>(ranges.size());
  const std::size_t bytes = ranges.size() * sizeof(clique_expected_range);
  std::vector<std::byte> table(sizeof header + bytes);
  std::memcpy(table.data(), &header, sizeof header);
  if (bytes != 0) std::memcpy(table.data() + sizeof header, ranges.data(), bytes);
  std::memcpy(host_.get(), &header, sizeof header);
  device_ = memory.copy_of(table.data(), table.size());
}

void AccessChecks::fetch(CUstream stream) const {
  CLIQUE_CUDA(MemcpyDtoHAsync(host_.get(), address(), kFetched, stream));
}

std::string AccessChecks::found() const {
  clique_access_checks header{};
  std::memcpy(&header, host_.get(), sizeof header);
  if (header.found == 0) return {};
  return (header.writes != 0 ? "writes " : "reads ") + std::to_string(header.size) + " bytes at " +
         place_of(header.image, header.begin) +
         "; accesses that are not expected: " + std::to_string(header.found);
}

std::string AccessChecks::place_of(std::uint64_t image, std::uint64_t address) const {
  for (const Argument& argument : arguments_)
    if (image != 0 && argument.image == image)
      return "offset " + std::to_string(address) + " of the pixels of argument " +
             std::to_string(argument.number);
  for (const Argument& argument : arguments_)
    if (address >= argument.begin && address - argument.begin < argument.size)
      return "offset " + std::to_string(address - argument.begin) + " of argument " +
             std::to_string(argument.number);
  return "address " + std::to_string(address) + ", which is outside of its arguments";
}

}  // namespace clique::daemon::cuda
