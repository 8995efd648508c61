#pragma once

#include <atomic>

#include "daemon/backend/common/command_reports.hpp"
#include "daemon/backend/cuda/execution/fill.hpp"
#include "daemon/backend/cuda/execution/graph.hpp"
#include "daemon/backend/cuda/execution/host_copies.hpp"
#include "daemon/backend/cuda/execution/pinned_memory.hpp"
#include "daemon/backend/cuda/execution/scheduler.hpp"
#include "daemon/backend/cuda/gpu/device.hpp"
#include "daemon/backend/cuda/handlers/buffers.hpp"
#include "daemon/backend/cuda/handlers/commands.hpp"
#include "daemon/backend/cuda/handlers/events.hpp"
#include "daemon/backend/cuda/handlers/graphs.hpp"
#include "daemon/backend/cuda/handlers/images.hpp"
#include "daemon/backend/cuda/handlers/kernels.hpp"
#include "daemon/backend/cuda/handlers/objects.hpp"
#include "daemon/backend/cuda/handlers/programs.hpp"
#include "daemon/backend/cuda/handlers/pushes.hpp"
#include "daemon/worker/backend.hpp"

namespace clique::daemon::cuda {

/// Executes a session's messages on one NVIDIA GPU, through CUDA's driver API. Composes the handlers, hands
/// each message to its handler, and ends the session when the GPU fails. It is not destroyed while commands
/// are under way: the worker's process exits instead.
class CudaBackend : public Backend {
 public:
  /// @param device its context is current
  CudaBackend(const Surroundings& surroundings, const Device& device);

  const protocol::Attached& description() const override { return description_; }
  std::int64_t clock() const override { return host_clock(); }
  void share(std::span<std::byte> memory) override { pinned_.share(memory); }
  void share_in_place(std::span<std::byte> memory) override { pinned_.share_in_place(memory); }
  void unshare(std::span<std::byte> memory) override { pinned_.unshare(memory); }
  std::shared_ptr<std::byte> memory_for_part(std::size_t size) override;
  bool reads_files() override;
  std::unique_ptr<DirectFile> open_direct(Fd file) override;
  void flush() override { scheduler_.flush(); }
  bool attend() override { return scheduler_.completions().attend(); }
  bool awaits_device() override { return scheduler_.completions().awaits(); }

  // All messages are handed on in one way, those that are as cheap to copy as to move, too.
  // NOLINTBEGIN(performance-move-const-arg)
  void handle(protocol::CreateContext&& message) override { objects_.handle(std::move(message)); }
  void handle(protocol::CreateSubDevices&& message) override { objects_.handle(std::move(message)); }
  void handle(protocol::CreateQueue&& message) override { objects_.handle(std::move(message)); }
  void handle(protocol::CreateBuffer&& message) override { objects_.handle(std::move(message)); }
  void handle(protocol::CreateSubBuffer&& message) override { objects_.handle(std::move(message)); }
  void handle(protocol::TrimBuffer&& message) override { objects_.handle(std::move(message)); }
  void handle(protocol::CreateImage&& message) override { objects_.handle(std::move(message)); }
  void handle(protocol::CreateSampler&& message) override { objects_.handle(std::move(message)); }
  void handle(protocol::Release&& message) override;

  void handle(protocol::CreateProgram&& message) override { programs_.handle(std::move(message)); }
  void handle(protocol::ProgramFiles&& message) override { programs_.handle(std::move(message)); }
  void handle(protocol::BuildProgram&& message) override { programs_.handle(std::move(message)); }
  void handle(protocol::CompileProgram&& message) override { programs_.handle(std::move(message)); }
  void handle(protocol::LinkProgram&& message) override { programs_.handle(std::move(message)); }
  void handle(protocol::AnalyseProgram&& message) override { programs_.handle(std::move(message)); }
  void handle(protocol::GetProgramBinary&& message) override { programs_.handle(std::move(message)); }

  void handle(protocol::CreateKernel&& message) override { kernels_.handle(std::move(message)); }
  void handle(protocol::QueryWorkGroup&& message) override { kernels_.handle(std::move(message)); }
  void handle(protocol::RunKernel&& message) override { kernels_.handle(std::move(message)); }

  void handle(protocol::ReadBuffer&& message) override { buffers_.handle(std::move(message)); }
  void handle(protocol::WriteBuffer&& message) override { buffers_.handle(std::move(message)); }
  void handle(protocol::ReadToSegment&& message) override { buffers_.handle(std::move(message)); }
  void handle(protocol::WriteFromSegment&& message) override { buffers_.handle(std::move(message)); }
  void handle(protocol::ReadBufferRect&& message) override { buffers_.handle(std::move(message)); }
  void handle(protocol::WriteBufferRect&& message) override { buffers_.handle(std::move(message)); }
  void handle(protocol::CopyBuffer&& message) override { buffers_.handle(std::move(message)); }
  void handle(protocol::CopyBufferRect&& message) override { buffers_.handle(std::move(message)); }
  void handle(protocol::FillBuffer&& message) override { buffers_.handle(std::move(message)); }

  void handle(protocol::ReadImage&& message) override { images_.handle(std::move(message)); }
  void handle(protocol::WriteImage&& message) override { images_.handle(std::move(message)); }
  void handle(protocol::CopyImage&& message) override { images_.handle(std::move(message)); }
  void handle(protocol::CopyImageToBuffer&& message) override { images_.handle(std::move(message)); }
  void handle(protocol::CopyBufferToImage&& message) override { images_.handle(std::move(message)); }
  void handle(protocol::FillImage&& message) override { images_.handle(std::move(message)); }

  void handle(protocol::Push&& message) override { pushes_.handle(std::move(message)); }
  std::unique_ptr<TransferSink> expect(protocol::Expect&& message) override {
    return pushes_.expect(std::move(message));
  }
  bool open_window(const protocol::OpenWindow& window) override { return pushes_.open_window(window); }

  void handle(protocol::Marker&& message) override { events_.handle(std::move(message)); }
  void handle(protocol::Barrier&& message) override { events_.handle(std::move(message)); }
  void handle(protocol::Finish&& message) override { events_.handle(std::move(message)); }
  void handle(protocol::AwaitRemote&& message) override { events_.handle(std::move(message)); }
  void handle(protocol::WatchEvent&& message) override { events_.handle(std::move(message)); }
  // NOLINTEND(performance-move-const-arg)
  void set_remote(protocol::CommandId command, std::int32_t status) override {
    events_.set_remote(command, status);
  }
  void when_ended(protocol::CommandId command, std::function<void(std::int32_t)> action) override {
    events_.when_ended(command, std::move(action));
  }

  void count_commands() override {}
  std::uint64_t queued_commands() override { return commands_.queued(); }

  bool begin_graph(protocol::ObjectId queue) override { return graphs_.begin(queue); }
  std::shared_ptr<Graph> end_graph() override { return graphs_.end(); }
  bool begin_update(Graph& graph) override { return graphs_.begin_update(graph); }
  bool end_update(Graph& graph, const std::vector<protocol::CommandId>& numbers) override {
    return graphs_.end_update(graph, numbers);
  }

 private:
  /// Does ahead what takes the driver long the first time, so that no client waits for it.
  void warm();
  /// The GPU has failed. Any thread.
  void fault(CUresult result);
  /// A kernel has run for longer than the limit. Any thread.
  void overdue(const std::string& kernel);
  /// Ends the session, unless it is ending already. Any thread.
  /// @param why called on the main thread with the tasks that the GPU has not ended; @returns the reason
  /// @returns whether it was not ending yet.
  bool end_session(std::function<std::string(const std::vector<TaskRef>&)> why);

  const Surroundings surroundings_;
  const Device device_;
  protocol::Attached description_;
  std::atomic<bool> ending_ = false;

  // execution/
  PinnedMemory pinned_;
  DeviceMemory device_memory_;
  Capture capture_;
  Filler filler_{capture_};
  HostCopies host_copies_{capture_};
  Scheduler scheduler_;

  // handlers/
  CommandReports reports_;
  Objects objects_;
  Commands commands_;
  Events events_;
  Graphs graphs_;
  Buffers buffers_;
  Images images_;
  Pushes pushes_;
  Programs programs_;  // its thread loads kernels of buffers_
  Kernels kernels_;
};

}  // namespace clique::daemon::cuda
