// What clGetKernelWorkGroupInfo and clGetKernelSubGroupInfo answer.
#pragma once

#include <vector>

#include "daemon/backend/cuda/execution/module.hpp"
#include "daemon/backend/cuda/execution/nd_range.hpp"
#include "protocol/messages.hpp"

namespace clique::daemon::cuda {

/// A launch's range.
/// @param offset may be empty
NdRange range_of(const std::vector<std::uint64_t>& offset, const std::vector<std::uint64_t>& global);

/// Chooses the range's local size, for a launch that gives none.
void choose_local_size(const Function& function, const GridLimits& limits, NdRange& range);

/// The properties that need no input, as part of a built program's description.
std::vector<protocol::Property> work_group_properties(const Function& function);

/// Any of the queries. Throws ClError(CL_INVALID_VALUE) for an unknown one, and RuleBroken for a wrong input.
protocol::Bytes answer_query(const protocol::QueryWorkGroup& message, const Function& function,
                             const GridLimits& limits);

}  // namespace clique::daemon::cuda
