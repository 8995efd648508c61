#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/backend/common/program_files.hpp"
#include "daemon/compiler/contract/request.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon::opencl {

/// A source that includes others, as the node's driver gets it. Drivers open included files themselves. So
/// what the client sent lies in files in memory, which only descriptors of this process name, and each
/// include of the source and of these files names such a file, or none. Nothing of the node's disk can be
/// included, and nothing is left when the process ends, however it does.
class PinnedSource {
 public:
  /// Headers of clCompileProgram, by the names that #include uses.
  using Headers = std::map<std::string, std::string_view, std::less<>>;

  /// Throws protocol::TooMuchIncluded; std::system_error if there are too few descriptors.
  PinnedSource(std::string_view source, std::string_view options, const FileSet& files,
               const Headers& headers);

  /// Whether the source includes anything. Otherwise the driver gets the client's source.
  bool includes() const { return includes_; }
  /// To be compiled while this object lives.
  const std::string& text() const { return text_; }
  /// The driver's messages with the client's names of files.
  std::string with_client_names(const std::string& log) const;

 private:
  bool includes_ = false;
  std::string text_;
  std::vector<Fd> files_;
  std::map<int, std::string> names_;  // of files_
};

/// Build options for the driver: without -I, which PinnedSource has followed. Throws compiler::InvalidOptions
/// if an option names files, which would be the node's.
std::string driver_options(compiler::Request::Kind kind, std::string_view options);

}  // namespace clique::daemon::opencl
