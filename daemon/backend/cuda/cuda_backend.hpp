// Executes a session's messages on one NVIDIA GPU, through CUDA's driver API.
#pragma once

#include <optional>
#include <unordered_map>

#include "daemon/backend/common/staging.hpp"
#include "daemon/backend/cuda/execution/fill.hpp"
#include "daemon/backend/cuda/execution/printf_buffers.hpp"
#include "daemon/backend/cuda/execution/small_reads.hpp"
#include "daemon/backend/cuda/gpu/device.hpp"
#include "daemon/backend/cuda/gpu/window.hpp"
#include "daemon/backend/cuda/objects.hpp"
#include "daemon/compiler/client/cache.hpp"
#include "daemon/compiler/client/compiler_process.hpp"
#include "daemon/worker/backend.hpp"

namespace clique::daemon::cuda {

using protocol::Command;
using protocol::CommandId;
using protocol::DeviceId;

class CudaBackend : public Backend {
 public:
  CudaBackend(const Surroundings& surroundings, const Device& device);

  const protocol::Attached& description() const override { return description_; }
  std::int64_t clock() const override { return host_clock(); }
  std::unique_ptr<TransferSink> expect(protocol::Expect&& message) override;
  void set_remote(CommandId command, std::int32_t status) override;
  void when_ended(CommandId command, std::function<void(std::int32_t)> action) override;
  bool open_window(const protocol::OpenWindow& window) override { return peer_windows_.open(window); }
  void share(std::span<std::byte> memory) override;
  void unshare(std::span<std::byte> memory) override;
  void flush() override { scheduler_.flush(); }
  bool attend() override { return scheduler_.completions().attend(); }

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

  // kernels.cpp
  void handle(protocol::CreateKernel&& message) override;
  void handle(protocol::QueryWorkGroup&& message) override;
  void handle(protocol::RunKernel&& message) override;

  // transfers.cpp
  void handle(protocol::ReadBuffer&& message) override;
  void handle(protocol::WriteBuffer&& message) override;
  void handle(protocol::ReadToSegment&& message) override;
  void handle(protocol::WriteFromSegment&& message) override;
  void handle(protocol::ReadBufferRect&& message) override;
  void handle(protocol::WriteBufferRect&& message) override;
  void handle(protocol::CopyBuffer&& message) override;
  void handle(protocol::CopyBufferRect&& message) override;
  void handle(protocol::FillBuffer&& message) override;

  // images.cpp
  void handle(protocol::ReadImage&& message) override;
  void handle(protocol::WriteImage&& message) override;
  void handle(protocol::CopyImage&& message) override;
  void handle(protocol::CopyImageToBuffer&& message) override;
  void handle(protocol::CopyBufferToImage&& message) override;
  void handle(protocol::FillImage&& message) override;

  // pushes.cpp
  void handle(protocol::Push&& message) override;

  // graphs.cpp
  bool begin_graph(ObjectId queue) override;
  std::shared_ptr<Graph> end_graph() override;

  // events.cpp
  void handle(protocol::Marker&& message) override;
  void handle(protocol::Barrier&& message) override;
  void handle(protocol::Finish&& message) override;
  void handle(protocol::AwaitRemote&& message) override;
  void handle(protocol::WatchEvent&& message) override;

 private:
  class PushJob;
  class ExpectSink;
  class CapturedGraph;
  friend class PushJob;
  friend class ExpectSink;
  friend class CapturedGraph;

  struct Event {
    TaskRef task;  ///< null where the command was refused
    cl_int failed = CL_SUCCESS;
    ReportOrder::EntryRef order;
  };
  /// The parts so far of a command of several messages.
  struct Parts {
    std::vector<TaskRef> tasks;
    std::vector<ReportOrder::EntryRef> reports;
    std::vector<CommandId> waits;  ///< of the first part
    cl_int status = CL_SUCCESS;
  };
  /// What a command is, beside its header.
  struct Work {
    std::function<void(CUstream)> run;
    std::function<void(CUstream, CUdeviceptr, std::uint32_t)> run_and_mark;  ///< as a Task's
    std::vector<std::shared_ptr<const void>> keep;
    std::string_view kernel;
    /// Filled by the time the task ends, and to be sent as Data: `size` bytes, or nothing.
    std::shared_ptr<std::shared_ptr<std::byte>> data;
    std::size_t size = 0;
    std::uint32_t part = 0;
    std::function<void()> before_report;  ///< called when it has ended well
    bool everything_before = false;       ///< comes after all before it in its queue
    bool everything_after = false;        ///< and all after it in its queue come after it
  };
  /// Between begin_graph() and end_graph().
  struct Collected {
    bool in_order;
    std::vector<Work> works;
    std::vector<std::vector<CommandId>> waits;  ///< of each work
    bool refused = false;                       ///< something of them cannot be in a graph
  };
  using Times = std::array<std::uint64_t, 4>;

  /// Has a command done: `make` returns its Work, and may throw ClError and RuleBroken.
  template <typename Make>
  void submit(const Command& command, Make&& make);
  void enter(const Command& command, const std::shared_ptr<Queue>& queue, Work work);
  void collect(const Command& command, Work work);
  void join_parts(const Command& command, const std::shared_ptr<Queue>& queue, Parts parts);
  void fail(const Command& command, const std::shared_ptr<Queue>& queue, const ClError& error);
  /// A task that reports the command's end and data; `entry` may be null.
  TaskRef make_task(const Command& command, const std::shared_ptr<Queue>& queue, Work work,
                    ReportOrder::EntryRef entry, bool report);
  /// The times of an EventState.
  static Times clamped(std::int64_t queued, std::int64_t submitted,
                       std::pair<std::int64_t, std::int64_t> times);
  /// Puts the task into its queue, after what it has to come after.
  void enqueue(const TaskRef& task, const std::shared_ptr<Queue>& queue, const std::vector<TaskRef>& waits,
               bool everything_before, bool everything_after);
  /// Makes what is reported in the queue from now on come after `entry`, as far as the queue's order demands.
  static void chain(Queue& queue, const ReportOrder::EntryRef& entry, bool barrier);
  std::vector<ReportOrder::EntryRef> before(Queue& queue, bool everything);

  /// Tasks of the waits, and what must be reported before whoever waits. Throws ClError where one has failed.
  void resolve(const std::vector<CommandId>& waits, std::vector<TaskRef>& tasks,
               std::vector<ReportOrder::EntryRef>& after);
  Event& event(CommandId id);
  void add_event(CommandId id, Event event);
  /// Has a transfer of the backend's own done, after `waits` alone; `at_end` is called on any thread.
  TaskRef transfer(Queue& queue, const std::vector<TaskRef>& waits, std::function<void(CUstream)> run,
                   std::vector<std::shared_ptr<const void>> keep, std::function<void(cl_int)> at_end);

  /// The task of a Push or Expect, held, with its event and report; `waits` gets what it waits for.
  TaskRef make_transfer(const Command& command, std::vector<TaskRef>& waits);
  /// Ends such a task before its parts have, unless it is null, which it is then.
  void end_transfer(TaskRef& whole, cl_int status);

  void check_device(DeviceId id) const;
  template <typename T, typename Make>
  void create(Table<T>& table, ObjectId id, Make&& make);
  std::shared_ptr<Memory> buffer(ObjectId id);
  std::shared_ptr<Memory> image(ObjectId id);
  /// A buffer with an address, which kernels have pointers to.
  std::shared_ptr<Memory> placed(ObjectId id);

  void set_arg(Kernel& kernel, const protocol::KernelArg& arg);
  /// The size of work-groups, where the launch gives none.
  void choose_group(const Function& function, NdRange& range) const;
  /// @param has_local whether `range` has the size of work-groups
  Work launch(const Kernel& kernel, NdRange range, bool has_local);
  /// Makes the work a read. @param destination called when the work is done, for pinned memory
  /// @param early early_units(), instead of the destination where SmallReads does it
  void read(Work& work, CUdeviceptr from, std::size_t size, std::function<std::byte*()> destination,
            protocol::EarlyUnit* early = nullptr);
  /// Where the client watches for the data, or null. Throws RuleBroken.
  protocol::EarlyUnit* early_units(const protocol::ReadBuffer& message) const;
  Work write(ObjectId buffer, std::uint64_t offset, const protocol::Payload& data);
  /// Puts one grid into the stream. Throws ClError.
  void launch_grid(const Function& function, const Grid& grid, std::uint32_t local_memory,
                   std::span<std::uint8_t> block, CUstream stream) const;
  static std::vector<protocol::Property> work_group_properties(const Function& function);
  void answer_query(const protocol::QueryWorkGroup& message, const Function& function,
                    protocol::Bytes& answer) const;

  // On the build thread.
  compiler::Request request(compiler::Request::Kind kind, const std::string& options) const;
  /// Makes the program what was compiled. @returns the build's status; `failure` where it cannot be loaded.
  cl_int take_result(Program& program, compiler::Result result, cl_int failure);
  void load(Program& program);
  void report_program(protocol::RequestId request, const Program& program, cl_int status,
                      const std::vector<DeviceId>& devices);
  static std::vector<protocol::KernelDescription> describe_kernels(const Program& program);

  /// Any thread: the GPU has failed.
  void fault(CUresult result);
  /// A kernel has run for too long. Any thread.
  void overdue(const std::string& kernel);
  /// Fails what has not ended. Throws DeviceFailed with the reason.
  [[noreturn]] void end_session(const std::string& why);

  const Surroundings surroundings_;
  const Device device_;
  protocol::Attached description_;
  Table<Context> contexts_{"context"};
  Table<Queue> queues_{"queue"};
  Table<Memory> memory_{"memory object"};
  Table<Sampler> samplers_{"sampler"};
  Table<Program> programs_{"program"};
  Table<Kernel> kernels_{"kernel"};
  std::unordered_map<CommandId, Event> events_;
  std::unordered_map<CommandId, Parts> parts_;
  std::optional<Collected> collected_;
  CUstream capturing_ = nullptr;  // once needed
  /// Finishes that wait, for the end of the session.
  std::unordered_map<protocol::RequestId, TaskRef> finishes_;
  std::vector<std::string> extensions_;
  /// A pinned block for data on its way to the client.
  std::shared_ptr<std::byte> outgoing(std::size_t size);
  /// The block, or one of our own where there is none or it is not pinned, for a chunk of a push, of which
  /// there are never many.
  std::shared_ptr<std::byte> chunk(const std::shared_ptr<std::byte>& shared, std::size_t size);
  /// The data in pinned memory, copied there only where it is not.
  std::shared_ptr<std::byte> pinned(const protocol::Payload& data);
  bool is_pinned(std::span<const std::byte> bytes) const;

  Staging staging_;
  std::vector<std::span<const std::byte>> pinned_;  // shared memory that the driver has taken
  DeviceMemory device_memory_;
  Window window_;
  PeerWindows peer_windows_;
  PrintfBuffers printf_buffers_;
  Filler filler_;
  SmallReads small_reads_;
  std::atomic<bool> faulty_ = false;
  Scheduler scheduler_;
  compiler::CompilerProcess compiler_;  // the build thread's, as is the cache
  compiler::Cache cache_ = compiler::Cache::from_environment();
  BuildThread builds_;
};

template <typename Make>
void CudaBackend::submit(const Command& command, Make&& make) {
  std::shared_ptr<Queue> queue;
  try {
    if (collected_) {
      collect(command, make());
      return;
    }
    queue = queues_.get(command.queue);
    enter(command, queue, make());
  } catch (const ClError& error) {
    if (collected_)
      collected_->refused = true;
    else
      fail(command, queue, error);
  }
}

template <typename T, typename Make>
void CudaBackend::create(Table<T>& table, ObjectId id, Make&& make) {
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

}  // namespace clique::daemon::cuda
