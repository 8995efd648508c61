// Finds the files of this host that programs include, and sends them to workers.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/digest.hpp"
#include "protocol/ids.hpp"

namespace clique::icd {

class Link;

/// The files that the source of a program includes, directly and indirectly.
struct IncludedFiles {
  struct File {
    std::string path;  ///< absolute, without `.` and `..`
    std::string text;
    protocol::Digest digest{};
  };
  std::string folder;  ///< absolute; relative paths start here
  std::vector<File> files;
};

/// Reads the files that a program includes, with the rights of this process. The texts of the source, the
/// options, the headers and the files alone determine which files these are (protocol/sources). Skips files
/// that do not exist or cannot be read: the compiler reports them if it needs them. Throws
/// protocol::TooMuchIncluded.
/// @param headers sources of clCompileProgram's headers, by the names that #include uses
/// @param folder absolute; relative paths start here
IncludedFiles find_included_files(std::string_view source, std::string_view options,
                                  const std::map<std::string, std::string_view, std::less<>>& headers,
                                  const std::string& folder);

/// The working directory of this process, from which programs' relative paths start.
std::string working_directory();

/// The texts of files that a worker has. Guarded by the lock of the link's outbox (Link::compose).
struct KnownTexts {
  std::set<protocol::Digest> digests;
  std::size_t bytes = 0;
};

/// Sends the files to the worker for one build: the texts that it does not have, and the digests of the
/// others.
/// @returns their id for that build; 0 if there are none
protocol::ObjectId post_files(Link& link, KnownTexts& known, const IncludedFiles& files);

}  // namespace clique::icd
