// What traces (icd/trace) show of commands, transfers and compilations.
#pragma once

#include <CL/cl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "icd/core/coherence/coherence.hpp"
#include "icd/core/coherence/need.hpp"
#include "icd/core/commands/submission.hpp"
#include "icd/core/events/event.hpp"
#include "icd/trace/trace.hpp"

namespace clique::icd {

class Device;
class Link;
class Memory;
class Worker;

/// What the trace shows of the command or transfer of an event, once that has ended.
struct Note {
  trace::Slice slice;
  /// What the command moves between host memory and the device; without a track: nothing.
  trace::Slice transfer = {};
  /// For a transfer of the library's own: the events after which the source has the content. It begins with
  /// the last of them.
  std::vector<Ref<Event>> after = {};
  bool to_host = false;  ///< the transfer
  std::int64_t posted = trace::now();
};

/// A command that has no event, since only the trace wants to know how it ends. Costs a fraction of an event
/// with a note.
class TracedCommand {
 public:
  /// Connects it with the call that this thread is in. @param transfers that the command waits for
  TracedCommand(const Submission& submission, Queue& queue, protocol::CommandId id,
                std::span<const Ref<Event>> transfers);
  ~TracedCommand();
  TracedCommand(TracedCommand&&) noexcept;

  /// Shows the command, which has ended. To be called once, and without a lock.
  /// @param times on this host's clock; 0 if not measured
  void ended(protocol::CommandId id, cl_int status, const Event::Times& times) const;

 private:
  Ref<Queue> queue_;
  std::string_view category_;
  std::string_view name_;  // trace::kept(), or a literal
  const char* call_;       // null: none
  std::int64_t posted_;
  std::vector<trace::Flow> transfers_;
};

/// Shows a command or transfer that has ended. To be called once.
void show(const Event& event, Note& note);

// Each of these has the trace show what the event belongs to, and connects it with the call that this thread
// is in.

/// @param transfers that the command waits for
void note_command(const Submission& submission, std::span<const Ref<Event>> transfers, Event& event);
/// @param ready the events after which the source has the content
void note_migration(const Migration& migration, const Need& need, std::span<const Ref<Event>> ready,
                    Event& event);
/// A transfer of a part of a buffer from its holder to host memory, after the event `turn`.
void note_read(const Memory& buffer, const Coherence::Part& part, Event& turn, Event& event);
/// A transfer from host memory, for a command that has another event.
void note_write(const HostTransfer& moves, Event& event);

/// Work of a node's compiler.
struct Compilation {
  const char* kind;       ///< build, compile or link
  std::uint64_t program;  ///< id
  std::size_t devices;    ///< for which it is done
  cl_int status;
};
/// Shows a compilation. @param flow a number that connects it with the call; times as trace::now()
void show(const Compilation& compilation, const Worker& worker, trace::Flow flow, std::int64_t begin,
          std::int64_t end);

// Texts for people.

/// A command, by its type: "write buffer".
std::string command_text(cl_command_type type);
/// A device, with its node.
std::string device_text(const Device& device);
/// A memory object: "buffer 12".
std::string object_text(const Memory& object);
/// Who needs the content of a migration: "kernel scale on beta uses it as argument 0 (data)".
std::string reason_text(const Migration& migration, const Need& need);

// Ways (icd/trace/names.hpp).

/// The way of transfers beside the commands.
std::string_view large_way(const Link& link);
/// The way of data that goes with the commands.
std::string_view small_way(const Link& link);

}  // namespace clique::icd
