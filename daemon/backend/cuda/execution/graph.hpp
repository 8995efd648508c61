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

/// A CUDA graph of several commands, which the GPU runs at one launch.
class WorkGraph {
 public:
  /// Takes the graph over.
  /// @param keep what must live as long as the graph
  /// @param kernel name of the first command's kernel; lives as long as `keep`
  WorkGraph(CUgraphExec native, std::vector<std::shared_ptr<const void>> keep, std::string_view kernel)
      : native_(native), keep_(std::move(keep)), kernel_(kernel) {}
  ~WorkGraph() { static_cast<void>(driver().GraphExecDestroy(native_)); }
  WorkGraph(const WorkGraph&) = delete;
  WorkGraph& operator=(const WorkGraph&) = delete;

  std::string_view kernel() const { return kernel_; }
  /// Puts the commands into the stream. Main thread. Throws ClError.
  void launch(CUstream stream) const { CLIQUE_CUDA(GraphLaunch(native_, stream)); }

 private:
  CUgraphExec const native_;
  const std::vector<std::shared_ptr<const void>> keep_;
  const std::string_view kernel_;
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
