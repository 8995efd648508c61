#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <variant>
#include <vector>

#include "daemon/worker/backend.hpp"
#include "daemon/worker/transfers/waiting_data.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::daemon {

/// Recordings: lists of commands that the client defines once and runs any number of times
/// (cl_khr_command_buffer). The backend executes one as a graph if it can, otherwise command by command. Main
/// thread.
class Recordings {
 public:
  /// @param waiting counts the memory of recordings; outlives this object
  explicit Recordings(WaitingData& waiting) : waiting_(waiting) {}

  /// Throws protocol::DecodeError and RuleBroken, also for commands that a recording cannot contain.
  void define(const protocol::DefineRecording& message);
  /// Changes launches of a recording. Throws protocol::DecodeError and RuleBroken, also for an unknown
  /// recording and for a number that is not a launch's.
  void update(const protocol::UpdateRecording& message, Backend& backend);
  /// Has the backend enqueue all of a recording's commands. Throws RuleBroken, also for an unknown recording.
  /// @returns how many of them run kernels
  std::size_t run(const protocol::RunRecording& message, Backend& backend);
  /// @returns whether the id is a recording's
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
    std::size_t kernels = 0;  ///< commands that run kernels
    std::uint64_t bytes = 0;  ///< memory of `commands`
    WaitingData::Share counted;
    bool has_run = false;               ///< since it was defined, or since the graph was given up
    std::shared_ptr<Graph> graph = {};  ///< null before the first run, and if the backend cannot make one
  };
  Recording& find(protocol::ObjectId id);
  static std::shared_ptr<Graph> make_graph(const std::vector<Recorded>& commands, protocol::ObjectId queue,
                                           Backend& backend);

  WaitingData& waiting_;
  protocol::BatchReader reader_;
  std::unordered_map<protocol::ObjectId, Recording> recordings_;
};

}  // namespace clique::daemon
