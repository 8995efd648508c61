#pragma once

#include <string>
#include <string_view>

#include "daemon/backend/common/program_files.hpp"
#include "daemon/backend/opencl/pinned_source.hpp"

namespace clique::daemon::opencl {

/// Whether a source, or a file that it may include, asks for ids of work-groups.
bool asks_for_group_ids(std::string_view source, const FileSet& files);

/// A source for launches that run a part of a range as a range with a global offset: get_group_id() gives the
/// ids of the whole range, if that has no offset. The driver may refuse the source, for example if the
/// program defines the name itself.
/// Compile it while `pinned` exists.
/// @param pinned made of `source`
std::string part_source(const std::string& source, const PinnedSource& pinned);

}  // namespace clique::daemon::opencl
