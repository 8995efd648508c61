#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "daemon/backend/cuda/handlers/commands.hpp"
#include "daemon/worker/backend.hpp"

namespace clique::daemon::cuda {

/// Recordings (cl_khr_command_buffer) as CUDA graphs. Main thread.
class Graphs {
 public:
  /// @param kernel_limit as Surroundings::kernel_limit
  Graphs(Commands& commands, Capture& capture, const Table<Queue>& queues, std::chrono::seconds kernel_limit)
      : commands_(commands), capture_(capture), queues_(queues), kernel_limit_(kernel_limit) {}
  Graphs(const Graphs&) = delete;
  Graphs& operator=(const Graphs&) = delete;

  /// As Backend::begin_graph().
  bool begin(protocol::ObjectId queue);
  /// As Backend::end_graph().
  std::shared_ptr<Graph> end();
  /// As Backend::begin_update(). A run that has not begun would see the change, so there must be none.
  bool begin_update(Graph& graph);
  /// As Backend::end_update().
  bool end_update(Graph& graph, const std::vector<protocol::CommandId>& numbers);

 private:
  class Recorded;

  Commands& commands_;
  Capture& capture_;
  const Table<Queue>& queues_;
  const std::chrono::seconds kernel_limit_;
};

}  // namespace clique::daemon::cuda
