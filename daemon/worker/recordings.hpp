#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <variant>
#include <vector>

#include "daemon/worker/backend.hpp"
#include "protocol/codec.hpp"

namespace clique::daemon {

/// Commands that the client has defined once and runs any number of times (cl_khr_command_buffer). The
/// backend executes them as one graph, or else as if each had come alone.
class Recordings {
 public:
  /// Throws protocol::DecodeError and RuleBroken, also for what no recording may hold.
  void define(const protocol::DefineRecording& message);
  /// Has the backend enqueue all of a recording's commands. Throws RuleBroken, also where there is no such
  /// recording.
  void run(const protocol::RunRecording& message, Backend& backend);
  /// @returns whether the id was a recording's.
  bool release(protocol::ObjectId id) { return recordings_.erase(id) > 0; }

 private:
  template <typename List>
  struct AnyOf;
  template <typename... M>
  struct AnyOf<protocol::MessageList<M...>> {
    using Type = std::variant<M...>;
  };
  using Recorded = AnyOf<protocol::RecordedMessages>::Type;

  struct Recording {
    std::vector<Recorded> commands;
    bool has_run = false;
    std::shared_ptr<Graph> graph = {};  ///< of the commands; null where the backend cannot
  };
  static std::shared_ptr<Graph> make_graph(const std::vector<Recorded>& commands, protocol::ObjectId queue,
                                           Backend& backend);

  protocol::BatchReader reader_;
  std::unordered_map<protocol::ObjectId, Recording> recordings_;
};

}  // namespace clique::daemon
