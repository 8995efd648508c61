#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "icd/common/function_ref.hpp"
#include "icd/common/object.hpp"
#include "icd/core/commands/queue_order.hpp"
#include "icd/core/commands/submission.hpp"
#include "icd/core/events/event.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/objects/device.hpp"
#include "icd/trace/trace.hpp"
#include "protocol/ids.hpp"
#include "protocol/messages/commands.hpp"

namespace clique::protocol {
class Batch;
}

namespace clique::icd {

class EarlyRead;
class Link;
class Worker;
template <typename M>
struct Work;

/// OpenCL 3.0, section 5.1: a command queue. Any thread.
///
/// A command goes through three steps: prepare() makes its event, posts the transfers that bring the content
/// that it uses, and finds what it waits for; then its messages are posted; and commit() notes what it
/// writes. submit() does all three. The commands between host memory and memory objects are in
/// host_transfers.hpp.
class Queue final : public Object<_cl_command_queue, Kind::Queue, CL_INVALID_COMMAND_QUEUE> {
 public:
  /// @param property_list the application's list with its closing 0, or empty.
  /// @param timed whether the times of commands are measured, even if the application does not want them
  Queue(Ref<Context> context, Ref<Device> device, cl_command_queue_properties properties,
        std::vector<cl_queue_properties> property_list, bool timed = false);
  ~Queue() override;

  protocol::ObjectId id() const { return id_; }
  const Ref<Context>& context() const { return context_; }
  const Ref<Device>& device() const { return device_; }
  Worker& worker() const { return device_->worker(); }
  Link& link() const;
  cl_command_queue_properties properties() const { return properties_; }
  bool in_order() const { return (properties_ & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0; }
  bool profiling() const { return (properties_ & CL_QUEUE_PROFILING_ENABLE) != 0; }
  const std::vector<cl_queue_properties>& property_list() const { return property_list_; }
  QueueOrder& order() { return order_; }

  /// Sends what was enqueued, here and for the other workers of the context.
  void flush();
  /// Waits until all enqueued commands have ended. Throws Error with the status of a command that failed and
  /// had no event.
  void finish();
  /// Waits until all enqueued commands have ended. The next finish() still throws for those that failed.
  void wait_for_commands();

  /// A prepared command. If one of the events that it waits for has failed, the command is doomed: its event
  /// has failed as well, and nothing may be posted.
  struct Prepared {
    /// The transfers that it waits for. One that ends before the command is posted must not be released
    /// before.
    std::vector<Ref<Event>> transfers;
    Ref<Event> event;  ///< empty if neither the submission nor coherence needs one
    protocol::Command header;
    /// Of a combined device: no other thread enqueues between this command's messages.
    std::unique_lock<std::recursive_mutex> together;
    std::unique_lock<std::mutex> coherence;  ///< of Context::coherence_mutex(), if it uses memory
    bool doomed = false;
    bool may_fail = false;      ///< whether an event that it waits for has not ended
    bool keeps_memory = false;  ///< whether the event keeps the memory objects alive that the command uses
    bool shared_write = false;  ///< whether it writes to objects that other workers may use
  };
  /// Prepares a command. The caller posts its messages, with the header, and calls commit(), unless the
  /// command is doomed. Does not wait. Throws Error(CL_OUT_OF_RESOURCES) if the node is lost, or content was
  /// lost with another one.
  Prepared prepare(Submission& submission);
  /// Notes what a command writes, once its messages are posted.
  void commit(const Submission& submission, const Prepared& prepared);
  /// Enqueues one command. post(outbox, header) adds its messages, all in one piece, or is not called if the
  /// command is doomed. Does not wait. @returns Prepared::event. Throws as prepare() does.
  Ref<Event> submit(Submission submission, FunctionRef<void(protocol::Batch&, protocol::Command&)> post);
  /// submit() for commands of several messages: post(header) posts them one by one.
  Ref<Event> submit_parts(Submission submission, FunctionRef<void(const protocol::Command&)> post);

  /// A command failed whose event, if it has one, the application does not know (Event::set_silent).
  /// @param command 0: it is not known which
  void failed_silently(cl_int status, protocol::CommandId command);
  /// Has the next finish() throw, if that is a failure that nobody else tells of. @returns whether it is.
  bool keep_failure(cl_int status, protocol::CommandId command);
  /// The status of a command before this one that failed silently, if nobody has told the application of it;
  /// else 0. The caller tells it, so the next finish() does not.
  cl_int take_silent_failure_before(protocol::CommandId command);
  /// The track of the trace with this queue's commands; null if this process does not record.
  const std::shared_ptr<trace::Track>& track() const { return track_; }
  /// What a trace calls the device; empty without a trace.
  std::string_view traced_device() const { return traced_device_; }

  /// Enqueues a marker, a command whose only work is to wait.
  Ref<Event> submit_marker(Submission submission);

  /// Enqueues a command of section 5 that needs nothing of the host. Defined for protocol::RecordedMessages
  /// but RunKernel (see Kernel::launch).
  template <typename M>
  Ref<Event> enqueue(Work<M> work, std::span<const Ref<Event>> waits, EventUse event);
  /// clEnqueueMarkerWithWaitList.
  Ref<Event> marker(std::span<const Ref<Event>> waits, EventUse event);
  /// clEnqueueBarrierWithWaitList.
  Ref<Event> barrier(std::span<const Ref<Event>> waits, EventUse event);
  /// Enqueues a command without work: it completes when its wait list has, and the content that it reads is
  /// in place. Unlike a marker, it does not follow other commands of an out-of-order queue.
  Ref<Event> nothing(const CommandInfo& command, EventUse event, std::span<const Access> accesses = {});
  /// Of a combined device: the library's queue for a member's parts of launches.
  /// @param member its position
  Queue& member_queue(std::size_t member);
  /// Of a combined device: as long as the result exists, no other thread can enqueue commands.
  std::unique_lock<std::recursive_mutex> keep_together() { return std::unique_lock(together_); }
  /// Of a combined device: whether the queue is in order and its last command, besides markers and barriers
  /// without a wait list, was a launch whose parts are all in queues of members, as those of the next launch
  /// will be. Then each of these need not wait for more than the part before it in its own queue, and for the
  /// content that it uses. The caller holds keep_together().
  /// @param waits the wait list of the next launch
  bool follows_launch(std::span<const Ref<Event>> waits) const;
  /// join() has enqueued the end of such a launch. The caller holds keep_together().
  void note_launch() { last_launch_ = commands_; }
  /// Enqueues the end of a launch that is divided among members: completes when all of its parts have.
  /// @param turn the marker that the parts wait for
  Ref<Event> join(const Ref<Event>& turn, std::vector<Ref<Event>> parts, cl_command_type type);
  /// Enqueues a command of this process: calls action() when it is the command's turn, on the thread that
  /// learns of that. The command completes when action() returns.
  Ref<Event> call(std::function<void()> action, const CommandInfo& command);

  /// For a blocking read whose event the application does not get. @returns null if the read may not be
  /// early: the worker is on another host, or the end of the read could mean more than that its data is
  /// there.
  std::shared_ptr<EarlyRead> early_read(std::size_t size, std::span<const Ref<Event>> waits);
  /// For a blocking write that returns before it is done (EarlyWrites::only_queue).
  std::unique_lock<std::mutex> begin_early_write();
  /// Such a write has been enqueued. The caller holds the lock.
  void end_early_write(Event& write);

  /// The pending reads that will fill a part of the memory, and whose data may arrive after that of a read
  /// that is enqueued now.
  /// @param traits of the new read: a direct one may overtake the data of this queue's earlier reads.
  std::vector<Ref<Event>> earlier_reads(std::span<const std::byte> memory, EventTraits traits) const;
  /// The pending reads that will fill a part of the memory, and that come before a write from that memory
  /// with this wait list.
  std::vector<Ref<Event>> reads_before_write(std::span<const std::byte> memory,
                                             std::span<const Ref<Event>> waits);

 private:
  void abandoned() override { flush(); }

  /// Enqueues a command that only orders others. In an in-order queue these are ordered anyway, so that
  /// without a wait list it changes nothing for the launches of a combined device before and after it.
  Ref<Event> submit_between(Submission submission,
                            FunctionRef<void(protocol::Batch&, protocol::Command&)> post);

  // The steps of prepare().

  /// Looks at the wait list, and makes event and header.
  Prepared begin(Submission& submission);
  /// Makes the command's event, as submission.event says.
  void give_event(const Submission& submission, Prepared& prepared);
  /// Has the trace show the command. @param transfers that it waits for
  void note(const Submission& submission, const Prepared& prepared, std::span<const Ref<Event>> transfers);
  /// Brings the content that the command uses to the worker. @returns the transfers that it has to wait for.
  std::vector<Ref<Event>> bring_content(Submission& submission, Prepared& prepared);
  /// Has the worker free memory of sparse buffers if it needs more for these accesses.
  void make_room(std::span<const Access> accesses);
  /// Puts what the command waits for into its header. @returns those that its event has to follow.
  std::vector<Ref<Event>> wait_for(const Submission& submission, std::span<const Ref<Event>> transfers,
                                   protocol::Command& header);
  /// Orders the data of a read after that of earlier reads to the same memory, and adds these to `followed`.
  void order_data(Submission& submission, const std::vector<Ref<Event>>& gates,
                  std::vector<Ref<Event>>& followed);
  /// Has the event and the data follow the worker's reports.
  void expect_reports(Submission& submission, const Ref<Event>& event);

  protocol::ObjectId id_ = next_id();
  Ref<Context> context_;
  Ref<Device> device_;
  cl_command_queue_properties properties_;
  std::vector<cl_queue_properties> property_list_;
  QueueOrder order_;
  bool times_some_ = false;  ///< whether only the times of some commands are used (CommandInfo::timed)
  std::shared_ptr<trace::Track> track_;
  std::string_view traced_device_;           ///< trace::kept()
  std::mutex failures_mutex_;                // guards the next three
  cl_int silent_failure_ = CL_SUCCESS;       ///< for the next finish()
  protocol::CommandId silently_failed_ = 0;  ///< the command
  /// The one that take_silent_failure_before() returned last, which the worker also tells with the next
  /// Finished.
  cl_int told_failure_ = CL_SUCCESS;
  std::mutex members_mutex_;
  std::vector<Ref<Queue>> members_;  ///< of members; empty until they are used
  std::recursive_mutex together_;
  // Of combined devices, guarded by together_:
  std::uint64_t commands_ = 0;  ///< how many were enqueued
  /// commands_ after the last launch of note_launch(), and what orders nothing after it; 0: none
  std::uint64_t last_launch_ = 0;
};

}  // namespace clique::icd
