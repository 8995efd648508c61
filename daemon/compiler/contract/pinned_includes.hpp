// Sources for compilers that open the files of #include themselves: OpenCL drivers and NVRTC.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "protocol/sources/include_tree.hpp"

namespace clique::daemon::compiler {

/// Begins the names under which no host has a file. What an include that names no file of the client becomes.
inline constexpr std::string_view kNoFile = "/proc/self/fd/none/";

/// What becomes of an include that names no file of the client.
enum class UnknownIncludes : std::uint8_t {
  Absent,        ///< it names no file at all: kNoFile
  CompilersOwn,  ///< the same, unless it is a plain relative name, as those of the compiler's own headers are
};

/// Rewrites each include of a text so that it names one file, and nothing else of the node's disk: computed
/// includes, too. Keeps the numbers of lines. Throws protocol::TooMuchIncluded for a text in which comments
/// and includes overlap, as they do in no sensible program.
/// @param name_of the name under which the compiler finds a text, by its `path`; empty: it cannot
std::string pin_includes(const protocol::SourceText& text,
                         const std::function<std::string(const std::string& path)>& name_of,
                         UnknownIncludes unknown);

/// A compiler's messages with the names that the client gave, where pin_includes() wrote kNoFile.
std::string without_no_file(std::string log);

}  // namespace clique::daemon::compiler
