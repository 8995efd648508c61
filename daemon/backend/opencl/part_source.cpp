#include "daemon/backend/opencl/part_source.hpp"

#include <algorithm>

namespace clique::daemon::opencl {

namespace {

constexpr std::string_view kGroupId = "get_group_id";

/// A part begins with a whole work-group. All work-groups have the same size but for the last one, which may
/// be smaller from OpenCL C 2.0 on.
constexpr std::string_view kPrefix =
    "size_t __clique_group_id(uint dimension) {\n"
    "#if __OPENCL_C_VERSION__ >= 200\n"
    "  return get_group_id(dimension) + get_global_offset(dimension) / get_enqueued_local_size(dimension);\n"
    "#else\n"
    "  return get_group_id(dimension) + get_global_offset(dimension) / get_local_size(dimension);\n"
    "#endif\n"
    "}\n"
    "#define get_group_id __clique_group_id\n"
    "#line 1\n";

}  // namespace

bool asks_for_group_ids(std::string_view source, const FileSet& files) {
  return source.find(kGroupId) != source.npos ||
         std::any_of(files.files.begin(), files.files.end(),
                     [](const auto& file) { return file.second->find(kGroupId) != std::string::npos; });
}

std::string part_source(const std::string& source, const PinnedSource& pinned) {
  return std::string(kPrefix).append(pinned.includes() ? pinned.text() : source);
}

}  // namespace clique::daemon::opencl
