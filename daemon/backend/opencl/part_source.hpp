#pragma once

#include <string>
#include <string_view>

#include "daemon/backend/common/program_files.hpp"

namespace clique::daemon::opencl {

/// Whether a source, or a file that it may include, asks for ids of work-groups.
bool asks_for_group_ids(std::string_view source, const FileSet& files);

/// A source for launches that run a part of a range as a range with a global offset: get_group_id() gives the
/// ids of the whole range, if that has no offset. The driver may refuse the source, for example if the
/// program defines the name itself.
std::string part_source(std::string_view source);

}  // namespace clique::daemon::opencl
