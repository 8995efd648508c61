#pragma once

#include <cstddef>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "icd/common/function_ref.hpp"
#include "icd/core/events/event.hpp"
#include "icd/core/tracing/note.hpp"
#include "icd/core/workers/arrived_parts.hpp"
#include "icd/core/workers/expected.hpp"
#include "protocol/messages/synchronisation.hpp"
#include "protocol/messages/transfers.hpp"

namespace clique::icd {

class Link;

/// The commands of one worker whose end it has yet to report, and what comes for them until then. An event
/// ends when its worker has reported the end and the data is in place. Any thread; the functions that handle
/// reports are called by the thread that receives.
class PendingCommands {
 public:
  // Before and after a command is posted.

  /// Adds a command. @returns false if the worker is lost: then nothing will come.
  bool add(const Ref<Event>& event);
  /// Adds a command without an event for the trace. @returns the command if the worker is lost
  std::optional<TracedCommand> add(protocol::CommandId id, TracedCommand command);
  /// Passes the data of a read to `sink` until its event has ended. To be called after add().
  void expect_data(protocol::CommandId command, DataSink sink);
  /// Notes that the command is a large transfer. To be called after add().
  void expect_bulk(protocol::CommandId command, Bulk bulk);
  /// Notes that the one thread that waits for the event has what it waited for, so that the report matters to
  /// nobody.
  void set_outrun(protocol::CommandId command);
  /// Whether all pending commands are outrun.
  bool only_outrun() const;
  /// The events of pending commands that fulfil a condition, which is called under a lock.
  std::vector<Ref<Event>> events(FunctionRef<bool(const Event&)> condition) const;

  // What the worker reports.

  void event_state(Link& link, const protocol::EventState& state);
  void data(const protocol::Data& data);
  /// A part of a large read, in any order. Throws DecodeError for a part that no read expects.
  void pushed(Link& link, protocol::PeerData&& part);
  /// The memory that a part of a large read is for. While the owner exists, the event does not end. Any
  /// thread.
  /// @returns null if other workers fill the memory, too, or no read expects the part
  std::shared_ptr<std::byte> place(Link& link, protocol::CommandId transfer, std::uint64_t offset,
                                   std::size_t size);
  /// pushed() on any thread: copies the part, unless it lies in the memory of place(). Throws DecodeError.
  void arrived(Link& link, protocol::PeerData&& part);
  /// The worker is lost: fails all commands with CL_DEVICE_NOT_AVAILABLE. add() fails from now on.
  void lose();

 private:
  struct Pending {
    Ref<Event> event;
    DataSink sink;
    Bulk bulk = {};
    ArrivedParts parts = {};  ///< of bulk.fills
    unsigned copying = 0;     ///< parts that have arrived and are being copied
    bool outrun = false;
    /// The report of the end, if it came before all data was in place.
    std::optional<protocol::EventState> reported = {};

    /// Adds a part that has arrived; one without data ends the transfer. @returns false if it cannot be.
    bool add_part(std::uint64_t offset, std::size_t size);
    /// Bytes of bulk.fills that have not arrived.
    std::size_t missing() const { return bulk.fills.size() - parts.bytes(); }
    /// Whether the event has to wait for data although its worker has reported this status.
    bool waits_for_data(cl_int status) const {
      return copying > 0 || (status == CL_COMPLETE && missing() > 0);
    }
  };

  using Entry = std::unordered_map<protocol::CommandId, Pending>::iterator;

  /// The end of a command of traced_. @returns false if it is not among them
  bool end_traced(Link& link, const protocol::EventState& state);
  /// Removes a command whose event ends. Under mutex_.
  Pending take(Entry entry);
  static void finish(Link& link, const Pending& pending, const protocol::EventState& state);
  /// Where a part goes that has arrived.
  struct Target {
    std::span<std::byte> to;
    std::shared_ptr<HostRange> range;

    void copy_from(std::span<const std::byte> data, Through through) const;
  };
  /// Notes that a part has arrived, and is being copied unless it is in place. @returns nothing for one of a
  /// failed transfer. Throws DecodeError for a part that no read expects. Under mutex_.
  std::optional<Target> note_part(const protocol::PeerData& part, bool in_place);
  /// A part of a large read is in place.
  void copied(Link& link, protocol::CommandId transfer);

  mutable std::mutex mutex_;
  std::unordered_map<protocol::CommandId, Pending> pending_;
  std::vector<protocol::CommandId> forgotten_;  ///< commands of traces that have ended, yet to be released
  /// Commands of which only the trace wants to know the end. There may be many, so that they share memory.
  std::pmr::unsynchronized_pool_resource traced_memory_;
  std::pmr::unordered_map<protocol::CommandId, TracedCommand> traced_{&traced_memory_};
  std::unordered_set<protocol::CommandId> abandoned_;  ///< large reads that ended without all of their data
  std::size_t outrun_ = 0;                             ///< the number of pending_ that are outrun
  bool lost_ = false;
};

}  // namespace clique::icd
