// Prepares sources for compilers that open included files themselves: OpenCL drivers and NVRTC.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "protocol/sources/include_tree.hpp"

namespace clique::daemon::compiler {

/// Prefix of names for which no file exists on any host. Includes that name no file of the client get it.
inline constexpr std::string_view kNoFile = "/proc/self/fd/none/";

/// How to rewrite an include that names no file of the client.
enum class UnknownIncludes : std::uint8_t {
  Absent,        ///< to a name with the prefix kNoFile
  CompilersOwn,  ///< the same, but keep plain relative names, such as those of the compiler's own headers
};

/// Rewrites each include of a text, also computed ones, so that it names one file of the client and nothing
/// else on the node's disk. Keeps line numbers. Throws protocol::TooMuchIncluded for a text in which comments
/// and includes overlap, as they do in no sensible program.
/// @param name_of returns the name under which the compiler finds the text with this `path`; empty: none
std::string pin_includes(const protocol::SourceText& text,
                         const std::function<std::string(const std::string& path)>& name_of,
                         UnknownIncludes unknown);

/// Removes kNoFile from a compiler's messages, which restores the names that the client wrote.
std::string without_no_file(std::string log);

}  // namespace clique::daemon::compiler
