#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "protocol/digest.hpp"
#include "protocol/messages/programs.hpp"

namespace clique::daemon {

/// The client's files that one build may include.
struct FileSet {
  std::string folder = "/";                                              ///< relative paths start here
  std::map<std::string, std::shared_ptr<const std::string>> files = {};  ///< by path
};

/// The files that the client has sent for its programs. One thread.
class ProgramFiles {
 public:
  /// Stores the files for one build. Throws RuleBroken.
  void take(protocol::ProgramFiles&& message);
  /// Removes and returns the files for a build. Id 0 means no files. Throws RuleBroken if there are none with
  /// this id.
  std::shared_ptr<const FileSet> claim(protocol::ObjectId id);

 private:
  using Text = std::shared_ptr<const std::string>;
  Text text_of(protocol::ProgramFile&& file);

  std::map<protocol::Digest, Text> kept_;
  /// Bytes of all texts, also of those that only builds in progress use.
  std::shared_ptr<std::atomic<std::size_t>> bytes_ = std::make_shared<std::atomic<std::size_t>>(0);
  std::map<protocol::ObjectId, std::shared_ptr<const FileSet>> sets_;
};

}  // namespace clique::daemon
