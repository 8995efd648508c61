// The interface of backends, which execute a session's messages on devices. A worker has one backend.
// Sessions, peer links, transfers between workers, printf and the order of reports are the worker's; backends
// use them as services.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "daemon/worker/connections/peer_links.hpp"
#include "daemon/worker/errors.hpp"
#include "daemon/worker/limits/memory_budget.hpp"
#include "daemon/worker/limits/pacer.hpp"
#include "daemon/worker/reports/report_order.hpp"
#include "daemon/worker/reports/reporter.hpp"
#include "daemon/worker/tasks.hpp"
#include "daemon/worker/transfers/cufile_use.hpp"
#include "daemon/worker/transfers/waiting_data.hpp"
#include "protocol/fd.hpp"
#include "protocol/messages.hpp"
#include "protocol/streams/packing.hpp"

namespace clique::daemon {

/// The messages that a backend executes.
using DeviceMessages = protocol::MessageList<
    protocol::CreateContext, protocol::CreateSubDevices, protocol::CreateQueue, protocol::CreateBuffer,
    protocol::CreateSubBuffer, protocol::TrimBuffer, protocol::CreateImage, protocol::CreateSampler,
    protocol::CreateProgram, protocol::ProgramFiles, protocol::BuildProgram, protocol::CompileProgram,
    protocol::LinkProgram, protocol::AnalyseProgram, protocol::CreateKernel, protocol::Release,
    protocol::GetProgramBinary, protocol::QueryWorkGroup, protocol::RunKernel, protocol::ReadBuffer,
    protocol::WriteBuffer, protocol::ReadToSegment, protocol::WriteFromSegment, protocol::ReadBufferRect,
    protocol::WriteBufferRect, protocol::CopyBuffer, protocol::CopyBufferRect, protocol::FillBuffer,
    protocol::ReadImage, protocol::WriteImage, protocol::CopyImage, protocol::CopyImageToBuffer,
    protocol::CopyBufferToImage, protocol::FillImage, protocol::Marker, protocol::Barrier, protocol::Push,
    protocol::Finish, protocol::AwaitRemote, protocol::WatchEvent>;

template <typename M>
class Handles {
 public:
  virtual ~Handles() = default;
  /// Executes the message without waiting for the device. Throws RuleBroken. If the driver refuses the
  /// message, that is reported as the message's definition says.
  virtual void handle(M&& message) = 0;
};

template <typename List>
class HandlesAll;
template <typename... M>
class HandlesAll<protocol::MessageList<M...>> : public Handles<M>... {
 public:
  using Handles<M>::handle...;
};

/// A file that a device reads into its own memory. Any thread.
class DirectFile {
 public:
  DirectFile() = default;
  virtual ~DirectFile() = default;
  DirectFile(const DirectFile&) = delete;
  DirectFile& operator=(const DirectFile&) = delete;
  /// Reads `size` bytes from byte `offset` of the file on. Fastest if both are multiples of kPage.
  /// @param to in a range that TransferSink::map() has offered to the device
  /// @returns how many bytes it has read: fewer at the end of the file
  /// Throws std::runtime_error with the reason if the device cannot read them.
  virtual std::size_t read(std::byte* to, std::size_t size, std::uint64_t offset) = 0;

  static constexpr std::uint64_t kPage = 4096;
};

/// The destination of an expected transfer. Main thread.
class TransferSink {
 public:
  virtual ~TransferSink() = default;
  /// Puts a part in place, and completes the Expect command after the last one. The part lies within the
  /// transfer.
  virtual void write(std::uint64_t offset, protocol::Payload data) = 0;
  /// write() for a part that lies in a window that the backend has opened.
  virtual void fetch(protocol::WindowData&& part) {
    throw RuleBroken("transfer " + std::to_string(part.transfer) + " uses window " +
                     std::to_string(part.window) + ", which is not open");
  }
  /// The last `size` bytes of the range will not arrive, because they have no meaning (cl_pocl_content_size).
  virtual void come_short(std::uint64_t size) = 0;
  /// No more parts arrive: the Expect command fails.
  virtual void fail(std::int32_t status) = 0;
  /// Who is to write to a range that map() offers.
  enum class Writer : std::uint8_t {
    Process,  ///< this process, which can write to the device's memory
    Device    ///< the device, by DirectFile::read(). Where it cannot, write() takes parts from other places
  };
  /// Offers the range itself: parts that are then handed to write() from their places there are not copied.
  /// For a transfer that nothing holds back any more.
  /// @param action gets the first byte of the range, or null if the transfer has failed. Any thread
  /// @returns false if the writer cannot reach the range; `action` is not called then
  // NOLINTNEXTLINE(performance-unnecessary-value-param): those that override it keep the action
  virtual bool map(Writer /*writer*/, std::function<void(std::shared_ptr<std::byte>)> /*action*/) {
    return false;
  }
  /// Whether any part of the range can be pushed on its own, as of a buffer.
  virtual bool divisible() const = 0;
};

/// The services of the worker that a backend uses.
struct Surroundings {
  Reporter& reporter;
  ReportOrder& order;
  PeerLinks& peers;
  Tasks& tasks;
  /// Every buffer and image takes its memory from this budget.
  MemoryBudget& memory;
  /// Counts what waits in the worker's own memory.
  WaitingData& waiting;
  /// Backends tell it of every kernel that they hand to the driver.
  Pacer& pacer;
  /// How long a kernel may run, counted from when nothing that it depends on holds it back; 0: no limit. A
  /// kernel that runs longer ends the session.
  std::chrono::seconds kernel_limit{0};
  /// Of what the worker sends in large transfers.
  protocol::Compression compression = protocol::Compression::Auto;
  /// Whether large transfers can go through UCX.
  bool ucx = false;
  CuFileUse cufile = CuFileUse::Never;
};

/// Recorded commands that a device runs as one.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  virtual ~Graph() = default;
  /// Enqueues them as this command.
  virtual void run(const protocol::Command& command) = 0;
};

/// Executes one session's messages. Main thread, unless a function says otherwise.
class Backend : public HandlesAll<DeviceMessages> {
 public:
  using HandlesAll::handle;

  /// The driver's platform and its devices; the caller sets `clock`.
  virtual const protocol::Attached& description() const = 0;

  /// From now on there are only these devices, which get the ids 0, 1, …: for a client that may not use the
  /// others. Before the first message. Whoever has one device need not do anything.
  /// @param positions in description(), ascending
  virtual void keep_devices(const std::vector<std::uint32_t>& positions) { static_cast<void>(positions); }

  /// The present time of the clock that EventState's times use, in nanoseconds. Any thread.
  virtual std::int64_t clock() const = 0;

  /// From now on kernels, copies and fills are not executed, but become a Graph for queues like this one. In
  /// an in-order queue each command follows the one before it; in an out-of-order queue its waits name the
  /// commands that it follows, by their numbers from 0.
  /// @returns false when the backend has no graphs
  virtual bool begin_graph(protocol::ObjectId queue) {
    static_cast<void>(queue);
    return false;
  }
  /// Ends begin_graph(). @returns null when a command cannot be part of a graph, or fails.
  virtual std::shared_ptr<Graph> end_graph() { return nullptr; }
  /// From now on launches are not executed, but take the place of launches in a graph that end_graph() made.
  /// @returns false when the graph cannot be changed
  virtual bool begin_update(Graph& graph) {
    static_cast<void>(graph);
    return false;
  }
  /// Ends begin_update(). Runs that were enqueued before stay as they are.
  /// @param numbers of the commands that the launches replace, in their order
  /// @returns false when the graph has to be made anew: a launch failed, or cannot replace another
  virtual bool end_update(Graph& graph, const std::vector<protocol::CommandId>& numbers) {
    static_cast<void>(graph);
    static_cast<void>(numbers);
    return false;
  }

  /// From now on queued_commands() is asked for.
  virtual void count_commands() = 0;
  /// How many commands were enqueued and have not ended, since count_commands(). The parts of a command count
  /// each; a transfer from or to another process counts once. The end of a command may be noticed up to the
  /// next call of attend() late.
  virtual std::uint64_t queued_commands() = 0;

  /// Prepares to receive a transfer. @returns null when the command has failed already, so that the data is
  /// dropped.
  virtual std::unique_ptr<TransferSink> expect(protocol::Expect&& message) = 0;

  /// A command that AwaitRemote announced has completed or failed on its own worker.
  virtual void set_remote(protocol::CommandId command, std::int32_t status) = 0;

  /// Has `action` called with the command's final status when it completes or fails, on any thread.
  virtual void when_ended(protocol::CommandId command, std::function<void(std::int32_t)> action) = 0;

  /// Another worker of this host offers a window: device memory in which it leaves parts of transfers.
  /// @returns whether this backend can copy from there
  virtual bool open_window(const protocol::OpenWindow& /*window*/) { return false; }

  /// Announces memory that is shared with another process: payloads will lie in it, or outgoing data. It
  /// outlives the backend unless unshare() is called.
  virtual void share(std::span<std::byte> memory) = 0;
  /// share() for memory of buffers, in which the devices are to work where it lies. Throws ClError if they
  /// cannot.
  virtual void share_in_place(std::span<std::byte> memory) = 0;
  /// The shared memory is about to be unmapped.
  virtual void unshare(std::span<std::byte> memory) = 0;

  /// Memory for a part of a transfer that is about to arrive, from which write() of its TransferSink needs no
  /// copy. Any thread. Throws std::exception if there is none.
  virtual std::shared_ptr<std::byte> memory_for_part(std::size_t size) = 0;

  /// Whether the device may be able to read files itself. Slow when it is asked for the first time. Any
  /// thread.
  virtual bool reads_files() { return false; }
  /// A file for the device to read. Slow. Any thread. Throws std::runtime_error with the reason if the device
  /// cannot read it.
  /// @param file was opened with O_DIRECT, if the file system allows that
  virtual std::unique_ptr<DirectFile> open_direct(Fd file) {
    static_cast<void>(file);
    throw std::runtime_error("the device does not read files");
  }

  /// A batch was handled: commands that the driver holds back have to start now.
  virtual void flush() = 0;

  /// Called while the main thread polls for work: completes the commands that the device has finished.
  /// @returns whether there were any
  virtual bool attend() { return false; }
  /// Whether commands have not ended whose end attend() notices first. Called on the main thread.
  virtual bool awaits_device() { return false; }
};

}  // namespace clique::daemon
