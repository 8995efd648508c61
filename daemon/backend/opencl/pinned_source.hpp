#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/backend/common/program_files.hpp"
#include "daemon/compiler/contract/request.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon::opencl {

/// A source with includes, prepared for the node's OpenCL driver, which opens included files itself. The
/// client's files become files in memory that only descriptors of this process refer to, and all includes are
/// rewritten to name one of these, or no file. So the source cannot include files of the node, and nothing
/// remains when the process ends, even if it is killed.
class PinnedSource {
 public:
  /// Headers of clCompileProgram, by the names that #include uses.
  using Headers = std::map<std::string, std::string_view, std::less<>>;

  /// Throws protocol::TooMuchIncluded, and std::system_error if there are too few descriptors.
  PinnedSource(std::string_view source, std::string_view options, const FileSet& files,
               const Headers& headers);

  /// Whether the source includes anything. Otherwise the driver gets the client's source unchanged.
  bool includes() const { return includes_; }
  /// The prepared source. Compile it while this object exists.
  const std::string& text() const { return text_; }
  /// Restores the client's file names in the driver's messages.
  std::string with_client_names(const std::string& log) const;

 private:
  bool includes_ = false;
  std::string text_;
  std::vector<Fd> files_;
  std::map<int, std::string> names_;  // of files_
};

/// Build options for the driver, without -I, which PinnedSource has resolved. Throws compiler::InvalidOptions
/// if an option names files, because these would be the node's.
std::string driver_options(compiler::Request::Kind kind, std::string_view options);

}  // namespace clique::daemon::opencl
