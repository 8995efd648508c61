// Executes a session's messages through a driver of the node.
#pragma once

#include <optional>
#include <unordered_map>

#include "daemon/backend/common/staging.hpp"
#include "daemon/backend/opencl/device_clock.hpp"
#include "daemon/backend/opencl/event_watcher.hpp"
#include "daemon/backend/opencl/kernel_limit.hpp"
#include "daemon/backend/opencl/objects.hpp"

namespace clique::daemon::opencl {

using protocol::Command;
using protocol::CommandId;
using protocol::DeviceId;

class OpenClBackend : public Backend {
 public:
  OpenClBackend(const Surroundings& surroundings, cl_platform_id platform, std::vector<cl_device_id> devices);

  const protocol::Attached& description() const override { return description_; }
  std::int64_t clock() const override { return clock_.now(); }
  std::unique_ptr<TransferSink> expect(protocol::Expect&& message) override;
  void set_remote(CommandId command, std::int32_t status) override;
  void when_ended(CommandId command, std::function<void(std::int32_t)> action) override;
  void share(std::span<std::byte> /*memory*/) override {}
  void unshare(std::span<std::byte> /*memory*/) override {}
  void flush() override;

  // objects.cpp
  void handle(protocol::CreateContext&& message) override;
  void handle(protocol::CreateSubDevices&& message) override;
  void handle(protocol::CreateQueue&& message) override;
  void handle(protocol::CreateBuffer&& message) override;
  void handle(protocol::CreateSubBuffer&& message) override;
  void handle(protocol::CreateImage&& message) override;
  void handle(protocol::CreateSampler&& message) override;
  void handle(protocol::Release&& message) override;

  // programs.cpp
  void handle(protocol::CreateProgram&& message) override;
  void handle(protocol::BuildProgram&& message) override;
  void handle(protocol::CompileProgram&& message) override;
  void handle(protocol::LinkProgram&& message) override;
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

  /// What a native enqueue takes at its end.
  struct Submission {
    cl_command_queue queue = nullptr;
    cl_uint count = 0;
    const cl_event* waits = nullptr;
    cl_event* event = nullptr;  ///< null where none is wanted
  };
  /// What is to be done when a native command has ended.
  struct Aftermath {
    std::shared_ptr<const void> keep;  ///< memory that the driver uses until then
    std::shared_ptr<std::byte> data;   ///< to be sent as Data: `size` bytes, or nothing
    std::size_t size = 0;
    std::uint32_t part = 0;
    bool everything_before = false;  ///< the command comes after all before it in its queue
    bool everything_after = false;   ///< all after it in its queue come after the command
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
    static Aftermath ordering(bool everything_before, bool everything_after) {
      Aftermath result;
      result.everything_before = everything_before;
      result.everything_after = everything_after;
      return result;
    }
  };
  struct Event {
    Handle<cl_event> native;  ///< null where the command could not even be enqueued
    cl_int failed = CL_SUCCESS;
    ReportOrder::EntryRef order;
    bool user = false;  ///< a user event: AwaitRemote, Push, Expect
  };
  /// The parts so far of a command of several messages.
  struct Parts {
    std::vector<Handle<cl_event>> events;
    std::vector<ReportOrder::EntryRef> reports;
    std::vector<CommandId> waits;  ///< of the first part
    cl_int status = CL_SUCCESS;
  };
  struct Device {
    cl_device_id native = nullptr;
    Handle<cl_device_id> owner;  ///< of a sub-device
    std::int64_t clock_offset = 0;
  };
  using Times = std::array<std::uint64_t, 4>;

  /// Enqueues a command and arranges what its flags ask for. `enqueue` is called with a Submission and
  /// returns the driver's status; it may throw ClError, and RuleBroken.
  template <typename Enqueue>
  void submit(const Command& command, Aftermath aftermath, Enqueue&& enqueue);
  /// submit(), but for the call.
  struct Prepared {
    std::shared_ptr<Queue> queue;
    std::vector<cl_event> waits;
    std::vector<ReportOrder::EntryRef> after;
    Handle<cl_event> event;
    Parts* parts = nullptr;
  };
  void prepare(const Command& command, Prepared& prepared);
  void settle(const Command& command, Aftermath aftermath, Prepared& prepared);
  void fail(const Command& command, const std::shared_ptr<Queue>& queue, const ClError& error);
  /// Watches a native command, and reports its data and end in their order.
  ReportOrder::EntryRef track(const Command& command, const Handle<cl_event>& event, Aftermath aftermath,
                              const std::shared_ptr<Queue>& queue, std::vector<ReportOrder::EntryRef> after,
                              bool report_end, Handle<cl_event> first);
  /// Makes what is reported in the queue from now on come after `entry`, as far as the queue's order demands.
  static void chain(Queue& queue, const ReportOrder::EntryRef& entry, bool barrier);
  std::vector<ReportOrder::EntryRef> before(Queue& queue, bool everything);
  static Times times_of(const Queue& queue, cl_event first, cl_event last);

  /// Natives of waits, and what must be reported before whoever waits. Throws ClError where one of them has
  /// failed.
  void resolve(const std::vector<CommandId>& waits, std::vector<cl_event>& natives,
               std::vector<ReportOrder::EntryRef>& after);
  Event& event(CommandId id);
  void add_event(CommandId id, Event event);
  /// A user event kept under the id; it ends by end_user_event.
  Event& add_user_event(CommandId id, cl_context context, bool report,
                        std::vector<ReportOrder::EntryRef> after);
  /// Any thread for CL_COMPLETE; failures go to the main thread, so that none happens while something that
  /// depends on it is being enqueued.
  void end_user_event(CommandId id, const Handle<cl_event>& native, const ReportOrder::EntryRef& report,
                      cl_int status, const Times& times = {});
  /// A command whose event is a user event that ends when `events` have.
  void join(const Command& command, const std::shared_ptr<Queue>& queue, std::vector<Handle<cl_event>> events,
            std::vector<ReportOrder::EntryRef> after);
  /// `event` was enqueued: it has to be flushed, and Finish has to wait for it.
  /// @param waits whether it has a wait list.
  void entered(Queue& queue, const Handle<cl_event>& event, bool waits);
  /// Of a queue in order: the last command that has not failed; the tail where all that are under way have.
  const Handle<cl_event>& standing_tail(const Queue& queue) const;

  /// A kernel has run for too long: ends the session. Any thread.
  void overdue(const std::string& kernel);

  const Device& device(DeviceId id) const;
  std::vector<cl_device_id> natives(const std::vector<DeviceId>& ids) const;
  DeviceId id_of(cl_device_id native) const;

  /// Puts into the table what `make` returns, or its failure.
  template <typename T, typename Make>
  void create(Table<T>& table, ObjectId id, Make&& make);
  Memory& buffer(ObjectId id);
  Memory& image(ObjectId id);
  void set_arg(Kernel& kernel, const protocol::KernelArg& arg);
  /// Enqueues a read of a buffer's range to memory that the aftermath keeps.
  void read(const Command& command, Aftermath aftermath, ObjectId id, std::uint64_t offset,
            std::span<std::byte> to);
  /// The same for a write, which keeps the content.
  void write(const Command& command, const protocol::Payload& from, ObjectId id, std::uint64_t offset);
  void report_program(protocol::RequestId request, const Program& program, cl_int status,
                      const std::vector<DeviceId>& devices, const std::vector<cl_int>& binary_status);
  /// Answers a build of a program in CUDA C++, which the node's OpenCL drivers do not know.
  void refuse_cuda_source(protocol::RequestId request, std::shared_ptr<Program> program,
                          const std::vector<DeviceId>& devices, cl_int status);
  /// Posts a build whose `work` returns the driver's status, and ProgramBuilt after it.
  template <typename Work>
  void post_build(protocol::RequestId request, const std::shared_ptr<Program>& program,
                  std::vector<DeviceId> devices, Work&& work);
  cl_int suggest_local_size(const protocol::QueryWorkGroup& message, const Kernel& kernel,
                            protocol::Bytes& answer);

  const Surroundings surroundings_;
  const cl_platform_id platform_;
  DeviceClock clock_;
  protocol::Attached description_;
  std::unordered_map<DeviceId, Device> devices_;
  Table<Context> contexts_{"context"};
  Table<Queue> queues_{"queue"};
  Table<Memory> memory_{"memory object"};
  Table<Sampler> samplers_{"sampler"};
  Table<Program> programs_{"program"};
  Table<Kernel> kernels_{"kernel"};
  std::unordered_map<CommandId, Event> events_;
  std::unordered_map<CommandId, Parts> parts_;
  std::vector<std::shared_ptr<Queue>> touched_;
  /// Whether any event has failed: from then on waits are looked at, since drivers may wait for ever for one
  /// that did.
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
};

template <typename Enqueue>
void OpenClBackend::submit(const Command& command, Aftermath aftermath, Enqueue&& enqueue) {
  Prepared prepared;
  try {
    prepare(command, prepared);
    const bool want_event =
        prepared.queue->in_order || command.flags != 0 || aftermath.wanted() || kernel_limit_.active();
    const Submission submission{prepared.queue->native.get(), static_cast<cl_uint>(prepared.waits.size()),
                                prepared.waits.empty() ? nullptr : prepared.waits.data(),
                                want_event ? prepared.event.put() : nullptr};
    check(enqueue(submission), "the driver's enqueue");
  } catch (const ClError& error) {
    fail(command, prepared.queue, error);
    return;
  }
  settle(command, std::move(aftermath), prepared);
}

template <typename T, typename Make>
void OpenClBackend::create(Table<T>& table, ObjectId id, Make&& make) {
  try {
    table.add(id, make());
  } catch (const ClError& error) {
    table.add_failed(id, error.status());
    surroundings_.reporter.report(protocol::Failed{id, error.status(), error.what()});
  }
}

inline std::array<std::size_t, 3> native(const protocol::Triple& triple) {
  return {triple[0], triple[1], triple[2]};
}

}  // namespace clique::daemon::opencl
