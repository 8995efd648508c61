#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "daemon/backend/common/command_parts.hpp"
#include "daemon/backend/common/command_reports.hpp"
#include "daemon/backend/common/event_table.hpp"
#include "daemon/backend/common/memory_table.hpp"
#include "daemon/backend/common/program_files.hpp"
#include "daemon/backend/common/staging.hpp"
#include "daemon/backend/opencl/analysis_thread.hpp"
#include "daemon/backend/opencl/device_clock.hpp"
#include "daemon/backend/opencl/device_uuids.hpp"
#include "daemon/backend/opencl/event_watcher.hpp"
#include "daemon/backend/opencl/kernel_limit.hpp"
#include "daemon/backend/opencl/late_ticket.hpp"
#include "daemon/backend/opencl/objects.hpp"
#include "daemon/backend/opencl/queued_commands.hpp"
#include "daemon/compiler/contract/request.hpp"
#include "daemon/worker/backend.hpp"

namespace clique::daemon::opencl {

using protocol::Command;
using protocol::CommandId;
using protocol::DeviceId;

/// Executes a session's messages through an OpenCL driver of the node.
class OpenClBackend : public Backend {
 public:
  /// @param node as SessionOptions::node
  OpenClBackend(const Surroundings& surroundings, cl_platform_id platform, std::vector<cl_device_id> devices,
                const std::string& node);

  const protocol::Attached& description() const override { return description_; }
  void keep_devices(const std::vector<std::uint32_t>& positions) override;
  std::int64_t clock() const override { return clock_.now(); }
  std::unique_ptr<TransferSink> expect(protocol::Expect&& message) override;
  void set_remote(CommandId command, std::int32_t status) override;
  void when_ended(CommandId command, std::function<void(std::int32_t)> action) override;
  void count_commands() override { queued_.begin(); }
  std::uint64_t queued_commands() override { return queued_.count(); }
  void share(std::span<std::byte> /*memory*/) override {}
  void share_in_place(std::span<std::byte> /*memory*/) override {}
  void unshare(std::span<std::byte> /*memory*/) override {}
  std::shared_ptr<std::byte> memory_for_part(std::size_t size) override {
    return staging_.take_uncounted(size);
  }
  void flush() override;

  // objects.cpp
  void handle(protocol::CreateContext&& message) override;
  void handle(protocol::CreateSubDevices&& message) override;
  void handle(protocol::CreateQueue&& message) override;
  void handle(protocol::CreateBuffer&& message) override;
  void handle(protocol::CreateSubBuffer&& message) override;
  void handle(protocol::TrimBuffer&& message) override;
  void handle(protocol::CreateImage&& message) override;
  void handle(protocol::CreateSampler&& message) override;
  void handle(protocol::Release&& message) override;

  // programs.cpp
  void handle(protocol::CreateProgram&& message) override;
  void handle(protocol::ProgramFiles&& message) override { files_.take(std::move(message)); }
  void handle(protocol::BuildProgram&& message) override;
  void handle(protocol::CompileProgram&& message) override;
  void handle(protocol::LinkProgram&& message) override;
  void handle(protocol::AnalyseProgram&& message) override;
  void handle(protocol::GetProgramBinary&& message) override;
  void handle(protocol::CreateKernel&& message) override;
  void handle(protocol::QueryWorkGroup&& message) override;

  // commands.cpp
  void handle(protocol::RunKernel&& message) override;
  void handle(protocol::ReadBuffer&& message) override;
  void handle(protocol::WriteBuffer&& message) override;
  void handle(protocol::ReadToSegment&& message) override;
  void handle(protocol::WriteFromSegment&& message) override;
  void handle(protocol::ReadBufferRect&& message) override;
  void handle(protocol::WriteBufferRect&& message) override;
  void handle(protocol::CopyBuffer&& message) override;
  void handle(protocol::CopyBufferRect&& message) override;
  void handle(protocol::FillBuffer&& message) override;
  void handle(protocol::Marker&& message) override;
  void handle(protocol::Barrier&& message) override;

  // images.cpp
  void handle(protocol::ReadImage&& message) override;
  void handle(protocol::WriteImage&& message) override;
  void handle(protocol::CopyImage&& message) override;
  void handle(protocol::CopyImageToBuffer&& message) override;
  void handle(protocol::CopyBufferToImage&& message) override;
  void handle(protocol::FillImage&& message) override;

  // pushes.cpp
  void handle(protocol::Push&& message) override;

  // events.cpp
  void handle(protocol::Finish&& message) override;
  void handle(protocol::AwaitRemote&& message) override;
  void handle(protocol::WatchEvent&& message) override;

 private:
  class PushJob;
  class ExpectSink;
  struct Join;
  friend class PushJob;
  friend class ExpectSink;
  friend struct Join;

  /// The last arguments of a native enqueue call.
  struct Submission {
    cl_command_queue queue = nullptr;
    cl_uint count = 0;
    const cl_event* waits = nullptr;
    cl_event* event = nullptr;  ///< null if no event is needed
  };
  /// What is to be done when a native command has ended, and what the command follows and precedes.
  struct Aftermath {
    std::shared_ptr<const void> keep;  ///< memory that the driver uses until then
    std::shared_ptr<std::byte> data;   ///< `size` bytes that are sent as Data; null: nothing
    std::size_t size = 0;
    std::uint32_t part = 0;
    bool everything_before = false;  ///< the command follows all earlier ones of its queue
    bool everything_after = false;   ///< all later commands of its queue follow it
    bool kernel = false;             ///< the command is a kernel, which the Pacer may count
    bool wanted() const { return keep != nullptr || data != nullptr || everything_after; }

    static Aftermath keeping(std::shared_ptr<const void> owner) {
      Aftermath result;
      result.keep = std::move(owner);
      return result;
    }
    static Aftermath sending(std::shared_ptr<std::byte> block, std::size_t size, std::uint32_t part) {
      Aftermath result;
      result.data = std::move(block);
      result.size = size;
      result.part = part;
      return result;
    }
  };
  struct Event {
    Handle<cl_event> native;     ///< null if the command could not be enqueued
    cl_int failed = CL_SUCCESS;  ///< status of a command that is known to have failed
    CommandReports::Entry order;
    bool user = false;             ///< a user event: of AwaitRemote, Push and Expect, and of joined commands
    bool waits_elsewhere = false;  ///< see waits_elsewhere(); only while the session is paced
  };
  using Parts = CommandParts<Handle<cl_event>>;
  struct Device {
    cl_device_id native = nullptr;
    Handle<cl_device_id> owner;     ///< of a sub-device
    std::int64_t clock_offset = 0;  ///< to be added to the device's times, in ns
    Uuid uuid = {};                 ///< of a sub-device, that of the whole device
    std::uint32_t place = 0;        ///< among the devices that the worker was started for; likewise
    bool in_place = false;          ///< uses_host_memory()
  };
  using Times = CommandReports::Times;

  protocol::DeviceDescription describe(const Device& device) const;

  /// Enqueues a command and arranges what its flags ask for.
  /// @param enqueue called with a Submission; @returns the driver's status. May throw ClError and RuleBroken.
  template <typename Enqueue>
  void submit(const Command& command, Aftermath aftermath, Enqueue&& enqueue);
  /// The parts of submit() before and after the driver's call.
  struct Prepared {
    std::shared_ptr<Queue> queue;
    std::vector<cl_event> waits;
    std::vector<CommandReports::Entry> after;
    Handle<cl_event> event;
    Parts* parts = nullptr;
    bool waits_elsewhere = false;
  };
  void prepare(const Command& command, Prepared& prepared);
  void settle(const Command& command, Aftermath aftermath, Prepared& prepared);
  /// Whether the command waits, also indirectly, for a user event: for another worker, the client, or a
  /// transfer.
  bool waits_elsewhere(const Command& command, const Queue& queue);
  /// A command could not be enqueued: it fails, with its event.
  /// @param queue null if the queue itself could not be created
  void refuse(const Command& command, Queue* queue, const ClError& error);
  /// Watches a native command, and reports its data and, if `reported`, its end.
  /// @param after the reports that its own must follow
  /// @param first the event whose times of queueing, submission and start are reported
  /// @returns its report; null if there is none
  CommandReports::Entry track(const Command& command, const Handle<cl_event>& event, Aftermath aftermath,
                              const std::shared_ptr<Queue>& queue,
                              const std::vector<CommandReports::Entry>& after, bool reported,
                              Handle<cl_event> first);
  /// Times of a report: those of `first`, but with the end of `last`.
  static Times times_of(const Queue& queue, cl_event first, cl_event last);

  /// Looks up a wait list: appends the native events, and the reports that the waiting command's must follow.
  /// Throws ClError if one of the events has failed.
  void resolve(const std::vector<CommandId>& waits, std::vector<cl_event>& natives,
               std::vector<CommandReports::Entry>& after);
  /// Adds a user event for a command, which end_user_event() ends.
  /// @param after the reports that the command's must follow, if it is reported
  Event& add_user_event(const Command& command, cl_context context,
                        const std::vector<CommandReports::Entry>& after);
  static Handle<cl_event> make_user_event(cl_context context);
  /// Any thread. Failures are handed to the main thread, so that no event fails while a command that waits
  /// for it is being enqueued.
  void end_user_event(CommandId id, const Handle<cl_event>& native, const CommandReports::Entry& report,
                      cl_int status, const Times& times = {});
  /// Adds a user event for the command, which ends when all of `events` have.
  void join(const Command& command, const std::shared_ptr<Queue>& queue, std::vector<Handle<cl_event>> events,
            std::vector<CommandReports::Entry> after);
  /// Calls `action` once, when all events have ended, with CL_COMPLETE or, if one has failed, the status for
  /// that. At once if they have ended already, else on any thread, possibly inside the driver.
  void when_all_ended(const std::vector<Handle<cl_event>>& events, std::function<void(cl_int status)> action);
  /// A command was enqueued: the queue has to be flushed, and Finish has to wait for the command.
  /// @param queue the client may have released it: parts of a transfer arrive after the command that expects
  /// them
  /// @param waits whether the command has a wait list.
  void entered(const std::shared_ptr<Queue>& queue, const Handle<cl_event>& event, bool waits);
  /// Of a queue in order: the last command that has not failed, or the tail if all commands under way have
  /// failed.
  const Handle<cl_event>& standing_tail(const Queue& queue) const;

  /// A kernel has run for longer than the limit: ends the session. Any thread.
  void overdue(const std::string& kernel);

  const Device& device(DeviceId id) const;
  std::vector<cl_device_id> natives(const std::vector<DeviceId>& ids) const;
  DeviceId id_of(cl_device_id native) const;

  void set_arg(Kernel& kernel, const protocol::KernelArg& arg);
  void set_arg(Kernel& kernel, cl_kernel native, const protocol::KernelArg& arg);
  /// The driver's kernel for launches of parts. Builds its program if that is not built yet. Throws ClError.
  cl_kernel native_of_parts(Kernel& kernel);
  /// Enqueues a read of a range of a buffer, to memory that the aftermath keeps.
  void read(const Command& command, Aftermath aftermath, ObjectId id, std::uint64_t offset,
            std::span<std::byte> to);
  /// Enqueues a write to a range of a buffer. Keeps the data until it has ended.
  void write(const Command& command, const protocol::Payload& from, ObjectId id, std::uint64_t offset);
  /// Changes a build log before the client gets it.
  using EditLog = std::function<std::string(std::string)>;
  void report_program(protocol::RequestId request, const Program& program, cl_int status,
                      const std::vector<DeviceId>& devices, const std::vector<cl_int>& binary_status,
                      const EditLog& edit_log = {});
  /// Reports a build that does not reach the driver.
  void refuse_build(protocol::RequestId request, const std::vector<DeviceId>& devices, cl_int status,
                    const std::string& log);
  /// What a build needs beside the program.
  struct BuildJob {
    protocol::RequestId request = 0;
    compiler::Request::Kind kind = compiler::Request::Kind::Build;
    std::vector<DeviceId> devices;
    std::string options;
    std::shared_ptr<const FileSet> files;
    std::vector<std::shared_ptr<Program>> headers = {};
    std::vector<std::string> header_names = {};
    bool in_parts = false;
  };
  /// Has the build thread build or compile the program and report ProgramBuilt.
  void post_build(const std::shared_ptr<Program>& program, BuildJob job);
  void run_build(Program& program, const BuildJob& job);
  cl_int suggest_local_size(const protocol::QueryWorkGroup& message, const Kernel& kernel,
                            protocol::Bytes& answer);

  const Surroundings surroundings_;
  CommandReports reports_{surroundings_.reporter, surroundings_.order};
  const cl_platform_id platform_;
  DeviceClock clock_;
  protocol::Attached description_;
  std::unordered_map<DeviceId, Device> devices_;
  Table<Context> contexts_{"context"};
  Table<Queue> queues_{"queue"};
  MemoryTable<Memory> memory_;
  Table<Sampler> samplers_{"sampler"};
  Table<Program> programs_{"program"};
  ProgramFiles files_;
  Table<Kernel> kernels_{"kernel"};
  EventTable<Event> events_;
  CommandPartsTable<Handle<cl_event>> parts_;
  std::vector<std::shared_ptr<Queue>> touched_;
  QueuedCommands queued_;
  /// Whether any event has failed. From then on, wait lists are checked for failed events, because some
  /// drivers would never stop waiting for them.
  std::atomic<bool> failures_seen_ = false;
  /// A block for data on its way to the client.
  std::shared_ptr<std::byte> outgoing(std::size_t size) {
    auto block = surroundings_.reporter.take(size);
    return block ? block : staging_.take(size);
  }
  Staging staging_;
  EventWatcher watcher_;
  KernelLimit kernel_limit_;
  BuildThread builds_;
  /// Analyses programs. Made when the client first asks for that.
  std::unique_ptr<AnalysisThread> analyses_;
};

template <typename Enqueue>
void OpenClBackend::submit(const Command& command, Aftermath aftermath, Enqueue&& enqueue) {
  Prepared prepared;
  try {
    prepare(command, prepared);
    std::shared_ptr<LateTicket> late;
    if (aftermath.kernel && prepared.waits_elsewhere)
      aftermath.keep = late = std::make_shared<LateTicket>(surroundings_.pacer, prepared.queue->place);
    else if (aftermath.kernel)
      aftermath.keep = surroundings_.pacer.launch(prepared.queue->place);
    const bool want_event = prepared.queue->in_order || command.flags != 0 || aftermath.wanted() ||
                            kernel_limit_.active() || queued_.counting();
    const Submission submission{prepared.queue->native.get(), static_cast<cl_uint>(prepared.waits.size()),
                                prepared.waits.empty() ? nullptr : prepared.waits.data(),
                                want_event ? prepared.event.put() : nullptr};
    check(enqueue(submission), "the driver's enqueue");
    if (late) late->watch(prepared.event.get());
  } catch (const ClError& error) {
    refuse(command, prepared.queue.get(), error);
    return;
  }
  settle(command, std::move(aftermath), prepared);
}

}  // namespace clique::daemon::opencl
