#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/coherence/arrivals.hpp"
#include "icd/core/coherence/back_and_forth.hpp"
#include "icd/core/coherence/range_map.hpp"
#include "icd/core/division/range_set.hpp"
#include "protocol/ids.hpp"

namespace clique::icd {

class Event;
class LaunchGroup;
class Memory;
class Worker;
struct Need;

/// Where the content of one memory object is valid, and the transfers that bring it to where it is used.
/// docs/ARCHITECTURE.md, "Memory across nodes", has the invariants. All functions are called under
/// Context::coherence_mutex().
class Coherence {
 public:
  explicit Coherence(Memory& object);
  ~Coherence();
  Coherence(const Coherence&) = delete;
  Coherence& operator=(const Coherence&) = delete;

  /// Declares the host to have the whole content, at `data`. `owner` keeps it alive; it is empty if the
  /// application does.
  void set_host_content(const std::byte* data, std::shared_ptr<const void> owner);

  /// Makes [begin, end) valid on the worker: posts the transfers that are needed, and adds to `waits` the
  /// events that a command there has to wait for. Throws Error(CL_OUT_OF_RESOURCES) if content was lost with
  /// a node.
  /// @param need says for what, in messages to people and in traces
  void before_read(Worker& worker, std::uint64_t begin, std::uint64_t end, std::vector<Ref<Event>>& waits,
                   const Need& need);
  /// The same for a command that overwrites all of [begin, end). No content has to come, but the command has
  /// to wait for transfers that are under way.
  void before_overwrite(Worker& worker, std::uint64_t begin, std::uint64_t end,
                        std::vector<Ref<Event>>& waits);
  /// For a part of a launch that writes to [begin, end) on the worker: adds to `waits` the transfers that
  /// read the previous content there. Other commands come after whatever these transfers are for.
  void before_write_of_part(const Worker& worker, std::uint64_t begin, std::uint64_t end,
                            std::vector<Ref<Event>>& waits) const;
  /// Notes that a part of a launch uses the object on its worker. The next launch may have content sent there
  /// before the part has ended.
  void used_by_part(const Ref<Event>& part);
  /// A part of a range, the worker that holds it, and the events after which it is valid there.
  struct Part {
    std::uint64_t begin;
    std::uint64_t end;
    Worker* holder;
    std::vector<Ref<Event>> ready;
  };
  /// Divides [begin, end) into the parts that the host can read from different workers: from `worker` what it
  /// holds and what no other holds, the rest from others. Throws Error(CL_OUT_OF_RESOURCES) if content was
  /// lost with a node.
  std::vector<Part> parts(Worker& worker, std::uint64_t begin, std::uint64_t end);
  /// How many bytes of the content in [begin, end) the worker does not hold.
  std::uint64_t missing(const Worker& worker, std::uint64_t begin, std::uint64_t end);
  /// How many of these other workers hold.
  std::uint64_t elsewhere(const Worker& worker, std::uint64_t begin, std::uint64_t end);
  /// Notes that a command with the event `event` writes [begin, end) on the worker. `event` may be empty if
  /// the context has only one worker.
  /// @param may_fail whether the command may turn out never to run, so that the previous content has to be
  /// found again.
  void written(Worker& worker, std::uint64_t begin, std::uint64_t end, const Ref<Event>& event,
               bool may_fail);

  /// The kernels of a combined device that have written the object; null: none has. LaunchGate guards it.
  std::shared_ptr<LaunchGroup>& writers() { return writers_; }

  // Of sparse objects, of which workers have memory for what they use.

  /// Bytes of [begin, end) for which the worker has no memory yet.
  std::uint64_t lacking(const Worker& worker, std::uint64_t begin, std::uint64_t end) const;
  /// A command on the worker uses [begin, end), which therefore gets memory there.
  void occupy(const Worker& worker, std::uint64_t begin, std::uint64_t end);
  /// For how many bytes the worker may have memory.
  std::uint64_t occupied(const Worker& worker) const;
  /// Has the worker free the memory of what it does not hold.
  /// @param tight whether it shall no longer hold what others hold, too
  void trim(Worker& worker, bool tight);
  /// Bytes for a command of one member of a combined device.
  struct Placed {
    std::uint64_t begin;
    std::uint64_t end;
    std::size_t member;
  };
  /// Divides [begin, end) among members: each has what it holds, and what no member holds belongs to the one
  /// that homes() says.
  std::vector<Placed> held_by(std::span<Worker* const> members, std::uint64_t begin, std::uint64_t end);
  /// Divides [begin, end) among members, each of which has the same share of the object.
  std::vector<Placed> homes(std::size_t members, std::uint64_t begin, std::uint64_t end) const;

 private:
  struct Fetch {
    std::uint64_t begin;
    std::uint64_t end;
    Holder source;
    std::vector<Ref<Event>> ready;
    std::uint64_t round;
  };
  /// Whether nothing can be elsewhere or under way: one worker in the context, and no content waiting on the
  /// host.
  bool trivial() const;
  /// Whether the holder has all of [begin, end), valid after nothing but completed events and those in
  /// `after`.
  bool holds(Holder holder, std::uint64_t begin, std::uint64_t end, const std::vector<Ref<Event>>& after);
  /// The events after which the copy is valid, also of writes without events.
  std::vector<Ref<Event>> ready_of(const RangeMap<Ref<Event>>::Copy& copy) const;
  /// The end of the meaningful part of [begin, end), as far as the host knows it (Memory::content_size).
  std::uint64_t meant_end(std::uint64_t begin, std::uint64_t end);
  /// The copy to fetch a piece from. A worker that itself still expects the piece is allowed: its Push waits
  /// for the arrival.
  static const RangeMap<Ref<Event>>::Copy& source(const RangeMap<Ref<Event>>::Piece& piece,
                                                  const Arrivals<Ref<Event>>::Traffic& traffic);
  Ref<Event> upload(Worker& worker, std::uint64_t begin, std::uint64_t end, const Need& need);
  Ref<Event> pull(Worker& worker, const Fetch& fetch, const Need& need);
  /// Drops the host's copy of [begin, end).
  void forget_host(std::uint64_t begin, std::uint64_t end);
  void drop_host_if_unused();
  /// The commands that the next transfer of [begin, end) to the worker waits for: transfers there, and those
  /// commands that may still use the content that it replaces.
  std::vector<protocol::CommandId> before_arrival(Worker& worker, std::uint64_t begin, std::uint64_t end);
  /// Bytes of the object that are each member's own.
  std::uint64_t home_size(std::size_t members) const;
  /// Adds the transfers to `waits` that bring a piece which the worker holds.
  void wait_for_arrivals(const Worker& worker, RangeMap<Ref<Event>>::Piece& piece,
                         std::vector<Ref<Event>>& waits) const;

  Memory& object_;
  RangeMap<Ref<Event>> map_;
  Arrivals<Ref<Event>> arrivals_;
  const std::byte* host_data_ = nullptr;
  std::shared_ptr<const void> host_owner_;
  BackAndForth back_and_forth_;
  std::shared_ptr<LaunchGroup> writers_;
  /// The last part of a launch in each queue that has used the object, as long as it has not ended.
  std::vector<Ref<Event>> parts_;
  std::map<Holder, RangeSet> occupied_;  ///< of a sparse object
};

}  // namespace clique::icd
