// What executes a session's messages on devices. A worker has one backend: `opencl` runs them through a
// driver of the node. Sessions, peer links, transfers between workers, printf and the order of reports are
// the worker's, not the backend's.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "daemon/worker/errors.hpp"
#include "daemon/worker/memory_budget.hpp"
#include "daemon/worker/peer_links.hpp"
#include "daemon/worker/report_order.hpp"
#include "daemon/worker/reporter.hpp"
#include "daemon/worker/tasks.hpp"
#include "protocol/messages.hpp"

namespace clique::daemon {

/// The messages that reach the device.
using DeviceMessages = protocol::MessageList<
    protocol::CreateContext, protocol::CreateSubDevices, protocol::CreateQueue, protocol::CreateBuffer,
    protocol::CreateSubBuffer, protocol::CreateImage, protocol::CreateSampler, protocol::CreateProgram,
    protocol::BuildProgram, protocol::CompileProgram, protocol::LinkProgram, protocol::CreateKernel,
    protocol::Release, protocol::GetProgramBinary, protocol::QueryWorkGroup, protocol::RunKernel,
    protocol::ReadBuffer, protocol::WriteBuffer, protocol::ReadToSegment, protocol::WriteFromSegment,
    protocol::ReadBufferRect, protocol::WriteBufferRect, protocol::CopyBuffer, protocol::CopyBufferRect,
    protocol::FillBuffer, protocol::ReadImage, protocol::WriteImage, protocol::CopyImage,
    protocol::CopyImageToBuffer, protocol::CopyBufferToImage, protocol::FillImage, protocol::Marker,
    protocol::Barrier, protocol::Push, protocol::Finish, protocol::AwaitRemote, protocol::WatchEvent>;

template <typename M>
class Handles {
 public:
  virtual ~Handles() = default;
  /// Executes the message without waiting for the device. Throws RuleBroken; what the driver refuses is
  /// reported as the message's definition says.
  virtual void handle(M&& message) = 0;
};

template <typename List>
class HandlesAll;
template <typename... M>
class HandlesAll<protocol::MessageList<M...>> : public Handles<M>... {
 public:
  using Handles<M>::handle...;
};

/// Where the data of an expected transfer goes. Main thread.
class TransferSink {
 public:
  virtual ~TransferSink() = default;
  /// Puts a part in place, and ends the Expect command once all parts are. Its range is inside the transfer.
  virtual void write(std::uint64_t offset, protocol::Payload data) = 0;
  /// The same for a part in a window that the backend has opened.
  virtual void fetch(protocol::WindowData&& part) {
    throw RuleBroken("window " + std::to_string(part.window) + " is not open");
  }
  /// So many bytes of what was expected do not come, and are of no use.
  virtual void come_short(std::uint64_t size) = 0;
  /// Nothing more comes: the Expect command fails.
  virtual void fail(std::int32_t status) = 0;
  /// Whether any range can be pushed on its own, as of a buffer.
  virtual bool divisible() const = 0;
};

/// What a backend may use of its worker.
struct Surroundings {
  Reporter& reporter;
  ReportOrder& order;
  PeerLinks& peers;
  Tasks& tasks;
  /// For all buffers and images.
  MemoryBudget& memory;
  /// How long a kernel may run, from when nothing that it comes after holds it back; 0: for ever. One that
  /// runs longer ends the session, for the reason over_limit() (backend/checks.hpp).
  std::chrono::seconds kernel_limit{0};
};

/// Commands that a device runs at once.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  virtual ~Graph() = default;
  /// Enqueues them as one command.
  virtual void run(const protocol::Command& command) = 0;
};

/// Executes one session's messages. Everything is called on the worker's main thread.
class Backend : public HandlesAll<DeviceMessages> {
 public:
  using HandlesAll::handle;

  /// The driver's platform and its devices; `clock` is left for the caller.
  virtual const protocol::Attached& description() const = 0;

  /// Now, in nanoseconds of the clock that EventState's times are on. Any thread.
  virtual std::int64_t clock() const = 0;

  /// Kernels, copies and fills that are handled from now on are not executed, but become a Graph for queues
  /// like this one: each comes after the one before it, or, where they keep no order, after those that its
  /// waits say by their number, from 0.
  /// @returns false where the backend has no graphs.
  virtual bool begin_graph(protocol::ObjectId queue) {
    static_cast<void>(queue);
    return false;
  }
  /// @returns null where a command cannot be in a graph, or fails.
  virtual std::shared_ptr<Graph> end_graph() { return nullptr; }

  /// Receives a transfer. @returns null where the command has failed already: its data is of no use.
  virtual std::unique_ptr<TransferSink> expect(protocol::Expect&& message) = 0;

  /// A command that AwaitRemote announced has ended elsewhere.
  virtual void set_remote(protocol::CommandId command, std::int32_t status) = 0;

  /// Has `action` called with the command's final status when it ends, from any thread.
  virtual void when_ended(protocol::CommandId command, std::function<void(std::int32_t)> action) = 0;

  /// Another worker of this host offers to leave parts of transfers in its device memory.
  /// @returns whether this backend can copy from there.
  virtual bool open_window(const protocol::OpenWindow& /*window*/) { return false; }

  /// Memory that is shared with others: payloads will lie in it, or data on its way out. It outlives the
  /// backend, or unshare() is called.
  virtual void share(std::span<std::byte> memory) = 0;
  /// The memory is about to go away after all.
  virtual void unshare(std::span<std::byte> memory) = 0;

  /// A batch was handled: whatever the driver holds back has to start now.
  virtual void flush() = 0;

  /// The main thread has nothing to do and looks for more work without pause: ends what has ended.
  /// @returns whether there was any
  virtual bool attend() { return false; }
};

}  // namespace clique::daemon
