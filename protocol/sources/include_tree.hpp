// What a program's source includes, directly and indirectly.
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

/// A program's source, and where it looks for what it includes.
struct IncludingSource {
  std::string_view source;
  std::string_view options;  ///< of the build: -I and -D count
  std::string folder;        ///< in which relative paths begin: absolute
  /// Headers of clCompileProgram, by the names that #include uses. They come before files.
  std::map<std::string, std::string_view, std::less<>> headers = {};
};

/// A text of a program, and what it includes.
struct SourceText {
  struct Inclusion {
    Include include;
    /// What it names, as `path` of other texts: the first that exists, of each meaning that a computed one
    /// may have. Empty if there is none.
    std::vector<std::string> paths = {};
    /// Of a computed one: its meanings.
    std::vector<Include> meanings = {};
  };
  std::string path;  ///< absolute and without `.` and `..`; empty: the program's own source
  std::string_view text;
  bool header = false;  ///< a header of clCompileProgram, which lies in the program's folder
  std::vector<Inclusion> inclusions = {};
};

/// The text of a file, which stays valid; nothing if there is no such file.
/// @param path absolute, and without `.` and `..`
using OpenFile = std::function<std::optional<std::string_view>(const std::string& path)>;

/// The source and all that it includes, each text once. The order in which a file is looked for: the headers;
/// for quoted names the folder of the including file; the program's folder; the folders of -I. Throws
/// TooMuchIncluded beyond protocol/limits.hpp.
std::vector<SourceText> include_tree(const IncludingSource& program, const OpenFile& open);

/// The path without `.` and `..`. Symbolic links are not followed.
/// @param folder absolute; where a relative path begins
std::string absolute_path(std::string_view path, const std::string& folder);

}  // namespace clique::protocol
