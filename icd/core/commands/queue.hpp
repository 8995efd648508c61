#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "icd/common/object.hpp"
#include "icd/core/commands/transfer.hpp"
#include "icd/core/commands/work.hpp"
#include "icd/core/events/event.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/objects/memory.hpp"
#include "icd/core/transfers/early_read.hpp"
#include "icd/core/workers/worker.hpp"
#include "protocol/codec.hpp"

namespace clique::icd {

/// What all commands have in common.
struct Submission {
  cl_command_type type;
  std::span<const Ref<Event>> waits;
  std::span<const Access> accesses;
  /// An event is wanted whose state the worker reports.
  bool report = false;
  /// Events that have ended are waited for, too: a marker or barrier without waits would mean another thing.
  bool keep_ended = false;
  /// Takes the data of a read; moved from.
  DataSink sink = {};
  /// Host memory that the read fills.
  std::span<const std::byte> fills = {};
  /// The device itself fills it.
  bool direct = false;
  /// An event is wanted, if only for others to wait for.
  bool named = false;
  /// Comes after everything that was enqueued before, also where the queue keeps no order.
  bool after_all = false;
  /// Everything that is enqueued later comes after it.
  bool before_all = false;
};

class Queue final : public Object<_cl_command_queue, Kind::Queue, CL_INVALID_COMMAND_QUEUE> {
 public:
  Queue(Ref<Context> context, Ref<Device> device, cl_command_queue_properties properties,
        std::vector<cl_queue_properties> property_list);
  ~Queue() override;

  protocol::ObjectId id() const { return id_; }
  const Ref<Context>& context() const { return context_; }
  const Ref<Device>& device() const { return device_; }
  Worker& worker() const { return device_->worker(); }
  cl_command_queue_properties properties() const { return properties_; }
  bool in_order() const { return (properties_ & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0; }
  bool profiling() const { return (properties_ & CL_QUEUE_PROFILING_ENABLE) != 0; }
  const std::vector<cl_queue_properties>& property_list() const { return property_list_; }

  /// Enqueues one command: brings to the worker what it reads, makes its wait list, and posts what
  /// post(outbox, header) adds, all in one piece. Does not wait.
  /// @returns the event where submission.report, or where coherence needs one; else empty. Where an awaited
  /// event has failed, nothing is posted and the event has failed, too. Throws Error(CL_OUT_OF_RESOURCES)
  /// where the node is gone, or content was lost with another one.
  template <typename Post>
  Ref<Event> submit(Submission submission, Post&& post) {
    return submit_parts(std::move(submission), [&](Link& link, protocol::Command& header) {
      link.compose([&](protocol::Batch& outbox) { post(outbox, header); });
    });
  }

  /// Sends what was enqueued, here and for the nodes that it depends on.
  void flush();
  /// Waits until everything enqueued has ended. Throws Error with the status of a command without event that
  /// failed.
  void finish();

  // The commands of section 5 of the specification, arguments checked. All return the event where `report` is
  // true. `waits` are the wait list's events. Reads with `blocking` return when the data is there.

  /// @param early of early_read() for this read; may be null.
  Ref<Event> read(Memory& buffer, std::size_t offset, std::size_t size, void* to,
                  std::span<const Ref<Event>> waits, bool report,
                  cl_command_type type = CL_COMMAND_READ_BUFFER,
                  const std::shared_ptr<EarlyRead>& early = nullptr);
  /// For a read that the caller waits for and whose event nobody gets. @returns null where its end could tell
  /// more than that its data is there, or the worker is on another host.
  std::shared_ptr<EarlyRead> early_read(std::size_t size, std::span<const Ref<Event>> waits);
  Ref<Event> write(Memory& buffer, std::size_t offset, std::size_t size, const HostContent& from,
                   std::span<const Ref<Event>> waits, bool report,
                   cl_command_type type = CL_COMMAND_WRITE_BUFFER);
  /// @param to the box's first byte in host memory.
  Ref<Event> read_rect(Memory& buffer, const Box& box, const protocol::Triple& region, void* to,
                       const Pitches& pitches, std::span<const Ref<Event>> waits, bool report);
  /// @param from the box's first byte in host memory.
  Ref<Event> write_rect(Memory& buffer, const Box& box, const protocol::Triple& region,
                        const HostContent& from, std::span<const Ref<Event>> waits, bool report);
  /// @param pitches of the host memory; distances of what the second and third coordinate count, array layers
  /// or not.
  Ref<Event> read_image(Image& image, const protocol::Triple& origin, const protocol::Triple& region,
                        void* to, const Pitches& pitches, std::span<const Ref<Event>> waits, bool report,
                        cl_command_type type = CL_COMMAND_READ_IMAGE);
  Ref<Event> write_image(Image& image, const protocol::Triple& origin, const protocol::Triple& region,
                         const HostContent& from, std::span<const Ref<Event>> waits, bool report,
                         cl_command_type type = CL_COMMAND_WRITE_IMAGE);
  template <typename M>
  Ref<Event> enqueue(Work<M> work, std::span<const Ref<Event>> waits, bool report) {
    if (work.empty) return nothing(waits, report, work.type);
    return submit({work.type, waits, work.accesses, report},
                  [&](protocol::Batch& outbox, protocol::Command& header) {
                    work.message.command = std::move(header);
                    outbox.add(work.message);
                  });
  }
  /// Maps a region; `mapping` says what, its pointer and pitches are filled in here.
  Ref<Event> map(Memory& memory, Mapping& mapping, std::span<const Ref<Event>> waits, bool report,
                 cl_command_type type);
  /// @param mapping taken from the memory.
  Ref<Event> unmap(Memory& memory, Mapping mapping, std::span<const Ref<Event>> waits, bool report,
                   cl_command_type type = CL_COMMAND_UNMAP_MEM_OBJECT);
  /// @param ranges to be migrated; their modes are filled in here.
  Ref<Event> migrate(std::vector<Access> ranges, cl_mem_migration_flags flags,
                     std::span<const Ref<Event>> waits, bool report,
                     cl_command_type type = CL_COMMAND_MIGRATE_MEM_OBJECTS);
  /// A command of this process: `action` is called when it is its turn, on whatever thread learns of that,
  /// and the command ends when it returns.
  Ref<Event> call(std::function<void()> action, std::span<const Ref<Event>> waits, cl_command_type type);
  Ref<Event> marker(std::span<const Ref<Event>> waits, bool report);
  Ref<Event> barrier(std::span<const Ref<Event>> waits, bool report);
  /// A command without work: ends when its waits have, and its accesses are in place. Unlike a marker it does
  /// not come after others in an out-of-order queue.
  Ref<Event> nothing(std::span<const Ref<Event>> waits, bool report, cl_command_type type,
                     std::span<const Access> accesses = {});

 private:
  /// Posts the messages of a write for a command header; told whether the header's queue is in order.
  using PostWrite = std::function<void(Link&, const protocol::Command&, bool in_order)>;
  /// A write from host memory: at once, or, where commands under way are yet to fill that memory, after them.
  Ref<Event> write_from(std::span<const std::byte> memory, cl_command_type type, const Access& access,
                        std::span<const Ref<Event>> waits, bool report, PostWrite post, bool named = false);
  /// Whether a range of this size goes beside the commands. What would have to be known of the order in other
  /// queues, only the worker knows.
  bool is_bulk(std::size_t size) const;
  /// Enqueues such a transfer: add(outbox, header) adds its message, which runs on the transfer queue.
  /// @returns the event, and the transfer's id, or 0 where nothing was posted.
  template <typename Add>
  std::pair<Ref<Event>, protocol::CommandId> submit_bulk(Submission submission, Bulk bulk, Add&& add);
  Ref<Event> read_bulk(Memory& buffer, std::size_t offset, std::span<std::byte> to,
                       std::span<const Ref<Event>> waits, cl_command_type type);
  /// The same for a range that is elsewhere, or in parts on several workers: each sends its own to the host.
  /// @returns an empty reference where this is no such range.
  Ref<Event> gather(Memory& buffer, std::size_t offset, std::span<std::byte> to,
                    std::span<const Ref<Event>> waits, cl_command_type type);
  /// Has a part pushed to the host when `turn` has ended. Under Context::coherence_mutex().
  Ref<Event> read_part(Memory& buffer, const Coherence::Part& part, std::span<std::byte> to, Event& turn,
                       const std::shared_ptr<HostRange>& range);
  Ref<Event> write_bulk(Memory& buffer, std::size_t offset, const protocol::Payload& content,
                        std::span<const Ref<Event>> waits, cl_command_type type);
  Ref<Event> write_later(std::span<const Ref<Event>> reads, cl_command_type type, const Access& access,
                         std::span<const Ref<Event>> waits, PostWrite post);

  struct Prepared {
    Ref<Event> event;
    protocol::Command header;
    std::unique_lock<std::mutex> coherence;
    bool doomed = false;    ///< an awaited event has failed
    bool may_fail = false;  ///< an awaited event has not ended
  };
  /// submit() for commands of several messages: post(link, header) posts them.
  template <typename Post>
  Ref<Event> submit_parts(Submission submission, Post&& post) {
    Prepared prepared = prepare(submission);
    if (!prepared.doomed) {
      post(worker().link(), prepared.header);
      commit(submission, prepared);
    }
    return prepared.event;
  }
  /// Notes the events of other nodes that a command waits for, and its own where that is reported.
  /// @returns what the command's event follows: those, and what the commands followed that it comes after.
  std::vector<Ref<Event>> note_foreign(std::vector<Ref<Event>> waits, const Ref<Event>& reported,
                                       bool after_all, bool before_all);
  /// Reads under way that are to fill a part of the memory, and whose data may come after that of a read that
  /// is enqueued now.
  /// @param overtakes whether that one's may come before what earlier ones of this queue sent
  std::vector<Ref<Event>> earlier_fills(std::span<const std::byte> memory, bool overtakes) const;
  /// Reads under way that are to fill a part of the memory, and may come before a write from it that waits
  /// for these.
  std::vector<Ref<Event>> reads_to_come(std::span<const std::byte> memory, std::span<const Ref<Event>> waits);
  /// The user events, not set yet, that hold a command back which waits for these, and for all before it in
  /// the queue, if `after_all`.
  std::vector<Ref<Event>> gates_of(std::span<const Ref<Event>> waits, bool after_all);
  /// They hold back what comes after the command, too.
  void note_gates(const std::vector<Ref<Event>>& gates, bool before_all);
  Prepared prepare(Submission& submission);
  void commit(const Submission& submission, const Prepared& prepared);
  void abandoned() override { flush(); }

  protocol::ObjectId id_ = next_id();
  Ref<Context> context_;
  Ref<Device> device_;
  cl_command_queue_properties properties_;
  std::vector<cl_queue_properties> property_list_;
  /// What an event follows that comes after all commands so far: events of other nodes that they have waited
  /// for, or reported events that follow these.
  std::mutex foreign_mutex_;
  std::vector<Ref<Event>> foreign_;
  /// Those of them that every later command comes after, in an out-of-order queue: the last barrier's.
  std::vector<Ref<Event>> foreign_fence_;
  /// User events that hold commands of the queue back, and those for all that is enqueued from now on, also
  /// where the queue keeps no order.
  std::vector<Ref<Event>> gates_;
  std::vector<Ref<Event>> gates_fence_;
  /// How many foreign_ may become before those that have ended are sorted out.
  std::size_t many_foreign_ = 64;
};

/// The events of a wait list. Throws Error(CL_INVALID_EVENT_WAIT_LIST) where list and count do not go
/// together or an event is no live handle, and Error(CL_INVALID_CONTEXT) where one is of another context.
std::vector<Ref<Event>> wait_list(const Context& context, cl_uint count, const cl_event* events);

}  // namespace clique::icd
