#include "daemon/backend/cuda/handlers/graphs.hpp"

#include <utility>

#include "daemon/common/log.hpp"

namespace clique::daemon::cuda {

/// A recording that runs as one command.
class Graphs::Recorded : public Graph {
 public:
  Recorded(Commands& commands, std::shared_ptr<const WorkGraph> graph)
      : commands_(commands), graph_(std::move(graph)) {}

  void run(const protocol::Command& command) override {
    commands_.submit(command, [this] {
      Work work;
      work.keep = {graph_};
      work.kernel = graph_->kernel();
      work.run = [graph = graph_.get()](CUstream stream) { graph->launch(stream); };
      return work;
    });
  }

 private:
  Commands& commands_;
  const std::shared_ptr<const WorkGraph> graph_;
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
