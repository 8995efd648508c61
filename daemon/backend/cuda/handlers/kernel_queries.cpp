#include "daemon/backend/cuda/handlers/kernel_queries.hpp"

#include <CL/cl_ext.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "daemon/backend/common/checks.hpp"

namespace clique::daemon::cuda {

namespace {

/// Work-items of a sub-group, which is a warp.
constexpr std::size_t kSubGroup = 32;
/// cl_intel_required_subgroup_size: CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL.
constexpr cl_uint kCompileSubGroupSize = 0x410A;

template <typename T>
void append(protocol::Bytes& bytes, const T& value) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

std::vector<std::size_t> sizes_in(const protocol::Bytes& bytes) {
  std::vector<std::size_t> result(bytes.size() / sizeof(std::size_t));
  if (!result.empty()) std::memcpy(result.data(), bytes.data(), result.size() * sizeof(std::size_t));
  return result;
}

}  // namespace

NdRange range_of(const std::vector<std::uint64_t>& offset, const std::vector<std::uint64_t>& global) {
  NdRange range;
  // clEnqueueTask gives no range: it runs one work-item.
  range.dimensions = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(global.size()));
  std::copy(offset.begin(), offset.end(), range.offset.begin());
  std::copy(global.begin(), global.end(), range.global.begin());
  return range;
}

void choose_local_size(const Function& function, const GridLimits& limits, NdRange& range) {
  const auto& required = function.kernel.required_group;
  if (required[0] != 0)
    std::copy(required.begin(), required.end(), range.local.begin());
  else
    range.local = choose_local_size(range, function.most_items, function.kernel.uniform_groups, limits);
}

std::vector<protocol::Property> work_group_properties(const Function& function) {
  std::vector<protocol::Property> result;
  const auto add = [&result](cl_uint name, const auto& value) {
    result.push_back({name, {}});
    append(result.back().value, value);
  };
  const auto& required = function.kernel.required_group;
  add(CL_KERNEL_WORK_GROUP_SIZE, std::size_t{function.most_items});
  add(CL_KERNEL_COMPILE_WORK_GROUP_SIZE, std::array<std::size_t, 3>{required[0], required[1], required[2]});
  add(CL_KERNEL_LOCAL_MEM_SIZE, cl_ulong{function.static_local} + function.kernel.local_size);
  add(CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, kSubGroup);
  add(CL_KERNEL_PRIVATE_MEM_SIZE, cl_ulong{function.private_memory});
  // The driver does not tell spilled registers from other private memory, so this is an upper limit.
  add(CL_KERNEL_SPILL_MEM_SIZE_INTEL, cl_ulong{function.private_memory});
  return result;
}

protocol::Bytes answer_query(const protocol::QueryWorkGroup& message, const Function& function,
                             const GridLimits& limits) {
  protocol::Bytes answer;
  const auto input = sizes_in(message.input);
  std::size_t items = 1;
  for (const std::size_t size : input) items *= size;
  switch (message.name) {
    case protocol::QueryWorkGroup::kSuggestedLocalSize: {
      const std::size_t dimensions = suggestion_dimensions(message);
      const auto half = input.begin() + static_cast<std::ptrdiff_t>(dimensions);
      NdRange range = range_of({input.begin(), half}, {half, input.end()});
      choose_local_size(function, limits, range);
      for (std::size_t i = 0; i < dimensions; ++i) append(answer, std::size_t{range.local[i]});
      return answer;
    }
    case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
      append(answer, kSubGroup);
      return answer;
    case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
      append(answer, (items + kSubGroup - 1) / kSubGroup);
      return answer;
    case CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT: {
      const std::size_t size = items * kSubGroup;
      const bool possible =
          items > 0 && size <= function.most_items && function.kernel.required_group[0] == 0;
      const std::size_t dimensions = message.answer_size / sizeof(std::size_t);
      for (std::size_t i = 0; i < dimensions; ++i)
        append(answer, possible ? (i == 0 ? size : std::size_t{1}) : std::size_t{0});
      return answer;
    }
    case CL_KERNEL_MAX_NUM_SUB_GROUPS:
      append(answer, (std::size_t{function.most_items} + kSubGroup - 1) / kSubGroup);
      return answer;
    case CL_KERNEL_COMPILE_NUM_SUB_GROUPS:
      append(answer, std::size_t{0});
      return answer;
    case kCompileSubGroupSize:
      append(answer, std::size_t{function.kernel.required_sub_group});
      return answer;
    default:
      break;
  }
  for (protocol::Property& property : work_group_properties(function))
    if (property.name == message.name) answer = std::move(property.value);
  if (answer.empty())
    throw ClError(CL_INVALID_VALUE, "the query " + std::to_string(message.name) + " is unknown");
  return answer;
}

}  // namespace clique::daemon::cuda
