// Finds the files that a program's source includes, directly and indirectly.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/sources/includes.hpp"

namespace clique::protocol {

/// A program's source, and where to search for its includes.
struct IncludingSource {
  std::string_view source;
  std::string_view options;  ///< build options, of which -I and -D matter
  std::string folder;        ///< absolute; relative paths start here
  /// Headers of clCompileProgram, by the names that #include uses. They have priority over files.
  std::map<std::string, std::string_view, std::less<>> headers = {};
};

/// A text of a program, and its includes.
struct SourceText {
  struct Inclusion {
    Include include;
    /// The texts that it names, by their `path`: the first existing one, for each possible meaning of a
    /// computed include. Empty if none exists.
    std::vector<std::string> paths = {};
    /// The possible meanings of a computed include.
    std::vector<Include> meanings = {};
  };
  std::string path;  ///< absolute and without `.` and `..`; empty: the program's own source
  std::string_view text;
  bool header = false;  ///< a header of clCompileProgram, which counts as a file of the program's folder
  std::vector<Inclusion> inclusions = {};
};

/// Returns the text of a file, which must stay valid; nothing if there is no such file.
/// @param path absolute, and without `.` and `..`
using OpenFile = std::function<std::optional<std::string_view>(const std::string& path)>;

/// The source and everything it includes, each text once. Files are searched in this order: the headers; for
/// quoted names, the folder of the including file; the program's folder; the folders of -I. Throws
/// TooMuchIncluded beyond the limits in protocol/limits.hpp.
std::vector<SourceText> include_tree(const IncludingSource& program, const OpenFile& open);

/// The path without `.` and `..`. Symbolic links are not followed.
/// @param folder absolute; a relative path starts here
std::string absolute_path(std::string_view path, const std::string& folder);

}  // namespace clique::protocol
