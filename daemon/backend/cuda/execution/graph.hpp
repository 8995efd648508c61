#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "daemon/backend/cuda/execution/work.hpp"

namespace clique::daemon::cuda {

/// The commands of a recording, in the order in which they came.
struct RecordedWork {
  struct Step {
    Work work;
    std::vector<std::uint64_t> after;  ///< numbers of the steps that it follows, from 0; ignored in order
  };
  bool in_order = true;  ///< each step follows the one before it
  std::vector<Step> steps;
};

/// A CUDA graph of several commands, which the GPU runs at one launch. Main thread.
class WorkGraph {
 public:
  /// What each command needs while it runs.
  using Keep = std::vector<std::vector<std::shared_ptr<const void>>>;
  struct Native {
    CUgraph graph = nullptr;
    CUgraphExec instance = nullptr;
    std::vector<CUgraphNode> nodes = {};  ///< of each command that is one launch; null for all others
  };

  /// Takes the graph over.
  /// @param kernel name of the first command's kernel; lives as long as what that command keeps
  WorkGraph(Native native, Keep keep, std::string_view kernel)
      : native_(std::move(native)), keep_(std::make_shared<const Keep>(std::move(keep))), kernel_(kernel) {}
  ~WorkGraph() {
    static_cast<void>(driver().GraphExecDestroy(native_.instance));
    static_cast<void>(driver().GraphDestroy(native_.graph));
  }
  WorkGraph(const WorkGraph&) = delete;
  WorkGraph& operator=(const WorkGraph&) = delete;

  std::string_view kernel() const { return kernel_; }
  /// What a launch that is put into a stream now needs until it has ended.
  const std::shared_ptr<const Keep>& keep() const { return keep_; }
  /// Puts the commands into the stream. Throws ClError.
  void launch(CUstream stream) const { CLIQUE_CUDA(GraphLaunch(native_.instance, stream)); }
  /// Replaces launches, from the next launch of the graph on.
  /// @param numbers of the commands that the steps replace
  /// @returns false if that is impossible. The graph is not to be launched then: a part may be replaced.
  bool replace(const std::vector<std::uint64_t>& numbers, RecordedWork& work);

 private:
  const Native native_;
  std::shared_ptr<const Keep> keep_;
  std::string_view kernel_;
};

/// Captures commands into graphs, on a stream of its own. Main thread.
class Capture {
 public:
  Capture() = default;
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// Whether what goes into the stream is captured instead of run.
  bool captures(CUstream stream) const { return stream == stream_; }

  /// Makes a graph of at least one command. Throws ClError if one of them cannot be in a graph.
  std::unique_ptr<WorkGraph> capture(RecordedWork recorded);

 private:
  CUstream stream_ = nullptr;  // null until the first capture
};

}  // namespace clique::daemon::cuda
