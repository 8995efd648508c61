#include "daemon/backend/cuda/handlers/graphs.hpp"

#include <utility>

#include "daemon/common/log.hpp"

namespace clique::daemon::cuda {

/// A recording that runs as one command.
class Graphs::Recorded : public Graph {
 public:
  Recorded(Commands& commands, std::shared_ptr<WorkGraph> graph)
      : commands_(commands), graph_(std::move(graph)) {}

  void run(const protocol::Command& command) override {
    commands_.submit(command, [this] {
      Work work;
      work.keep = {graph_, graph_->keep()};
      work.kernel = graph_->kernel();
      // A task lets go of what it runs once that is in a stream.
      work.run = [graph = graph_.get(), waiting = waiting_](CUstream stream) { graph->launch(stream); };
      return work;
    });
  }
  /// Whether there are runs that are not in a stream yet.
  bool runs_wait() const { return waiting_.use_count() > 1; }
  WorkGraph& graph() { return *graph_; }

 private:
  Commands& commands_;
  const std::shared_ptr<WorkGraph> graph_;
  const std::shared_ptr<const char> waiting_ =
      std::make_shared<const char>();  ///< of which each has a reference
};

bool Graphs::begin(protocol::ObjectId queue) {
  // The time of a single kernel in a graph cannot be measured.
  if (kernel_limit_.count() != 0) return false;
  try {
    commands_.begin_recording(queues_.get(queue)->in_order);
    return true;
  } catch (const ClError&) {
    // The queue could not be created, so nothing runs in it.
    return false;
  }
}

bool Graphs::begin_update(Graph& graph) {
  // All graphs are end()'s.
  if (static_cast<Recorded&>(graph).runs_wait()) return false;
  commands_.begin_recording(true);
  return true;
}

bool Graphs::end_update(Graph& graph, const std::vector<protocol::CommandId>& numbers) {
  auto recorded = commands_.end_recording();
  return recorded && static_cast<Recorded&>(graph).graph().replace(numbers, *recorded);
}

std::shared_ptr<Graph> Graphs::end() {
  auto recorded = commands_.end_recording();
  if (!recorded) return nullptr;
  try {
    return std::make_shared<Recorded>(commands_, capture_.capture(std::move(*recorded)));
  } catch (const ClError& error) {
    spdlog::debug("a recording runs command by command, since it cannot be a CUDA graph: {}", error.what());
    return nullptr;
  }
}

}  // namespace clique::daemon::cuda
