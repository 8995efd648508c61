// The connection to one worker.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "icd/common/error.hpp"
#include "icd/common/function_ref.hpp"
#include "icd/remote/link/answers.hpp"
#include "icd/remote/process.hpp"
#include "icd/remote/worker_endpoint.hpp"
#include "icd/trace/trace.hpp"
#include "protocol/ids.hpp"

namespace clique::protocol {
class Batch;
class SharedSegment;
class ZmqContext;
enum class Op : std::uint16_t;
struct Attached;
struct Payload;
}  // namespace clique::protocol

namespace clique::icd {

struct Errand;
class Reports;
class Session;

/// The connection to one worker: an outbox for messages to it, and an inbox from which a thread that waits,
/// or else the background thread (Reactor), receives. Thread-safe. In a forked child of the process that made
/// it, a link is lost, and its destructor does nothing.
///
/// Memory of payloads: `Payload::bytes` must stay valid until the payload's owner is released, the worker has
/// answered for the command, or the link is lost (Reports::lost, wait() returning false, a failed request) or
/// closed; from then on nothing reads it. Owners are released on any thread; their destructors must not call
/// links.
///
/// To post messages, include protocol/batch.hpp.
class Link {
 public:
  /// The answer to a request: the reply; or null, and why there is none.
  template <typename Reply>
  using Answer = std::function<void(Reply* reply, const std::string& failure)>;

  /// Connects and attaches. Returns when the worker has described itself and its clock is known.
  /// Throws Error(CL_DEVICE_NOT_AVAILABLE) with the cause, after `timeout` at the latest.
  Link(protocol::ZmqContext& zmq, WorkerEndpoint endpoint, std::chrono::milliseconds timeout);
  /// close().
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  const WorkerEndpoint& endpoint() const { return endpoint_; }
  /// The worker's description of its devices.
  const protocol::Attached& attached() const;
  /// Begins to deliver reports. To be called once, before the first post(). `reports` must outlive the link's
  /// close(). If the link is lost already, this calls Reports::lost.
  void start(Reports& reports);

  /// Appends a message to the outbox. It is sent soon, or by flush(). Dropped if the link is lost.
  template <typename M>
  void post(const M& message) {
    compose([&](auto& batch) { batch.add(message); });
  }
  /// Calls function(batch) under the outbox's lock. The messages that it adds stay together, and state that
  /// it reads and changes (such as the arguments sent last) is consistent with the order of messages. It must
  /// not call functions of this link, nor take locks under which other threads post. It is not called in a
  /// forked child.
  void compose(FunctionRef<void(protocol::Batch&)> function);
  /// Sends the contents of the outbox, as far as the system takes them now.
  void flush();

  /// True if messages to the worker go through memory shared with it.
  bool shares_memory() const;
  /// True if large transfers use streams; otherwise they go through shared memory or ZeroMQ.
  bool uses_streams() const;
  /// The largest transfer that is as fast among the commands as beside them, in bytes.
  std::size_t largest_with_commands() const;
  /// A block of the memory that carries payloads to the worker, and its offset there in bytes.
  struct SharedBlock {
    std::shared_ptr<std::byte> bytes;  ///< null: no block
    std::uint64_t offset = 0;
  };
  /// Takes a block of `size` bytes. No block if no memory is shared, or if there is no room.
  SharedBlock take_shared(std::size_t size) const;
  /// Shares more memory with the worker, and waits until the worker has mapped it, for a limited time.
  /// @param address where the worker is to map it, and its devices are to work in it; 0: anywhere
  /// @returns why the worker has not taken it; empty: it has.
  std::string give(protocol::ObjectId id, const protocol::SharedSegment& segment,
                   std::uint64_t address = 0) const;

  /// Places a segment in the memory that this virtual machine shares with the worker's host. The worker has
  /// it for all messages that are posted later, until protocol::FreeSegment.
  /// @returns its memory, whose content is undefined; it stays mapped as long as the owner lives, also when
  /// the link is lost. Null: there is no such memory, or no room in it.
  std::shared_ptr<std::byte> place_segment(protocol::ObjectId id, std::size_t size);

  /// Sends the content of a transfer beside the commands, in parts, as fast as the worker takes them. A
  /// message posted before must have told the worker to expect it (protocol::Expect). The memory of `content`
  /// is as that of other payloads; if the transfer fails, it is read until cancel_upload() says otherwise.
  void upload(protocol::CommandId transfer, protocol::Payload content);
  /// Calls `then`, on any thread, when the content of the transfer is no longer read.
  void cancel_upload(protocol::CommandId transfer, std::function<void()> then);
  /// For Reports: Inbox::run().
  void run(Errand errand);
  /// Has the thread that receives call the function soon, between two messages. It must not wait. Never
  /// called once the link is lost. Any thread.
  void on_receiver(std::function<void()> function);
  /// Must be called before a Push to protocol::kClientPeer is posted. Parts of the push may arrive after
  /// later reports.
  void expect_pushes();
  /// Inbox::expect_transfer(): to be called before a transfer between the device and memory shared with it is
  /// posted.
  void expect_transfer(std::uint64_t size);

  /// How long a worker may take to answer a question that needs no device. Its driver may be busy for long,
  /// for instance while it compiles a kernel for the first launch.
  static constexpr std::chrono::minutes kAnswerTimeout{5};

  /// Sends a request (M has a field `request`, which is set here) and waits for its reply.
  /// Throws Error(CL_OUT_OF_RESOURCES) with the cause if the link is lost, or if there is no reply within
  /// `limit`.
  template <typename Reply, typename M>
  Reply request(M message, std::optional<std::chrono::milliseconds> limit = std::nullopt) {
    struct Outcome {
      std::optional<Reply> reply;
      std::string failure;
      std::atomic<bool> known{false};
    };
    // Shared, because the answer may come after this thread has stopped waiting.
    auto outcome = std::make_shared<Outcome>();
    request<Reply>(std::move(message), Answer<Reply>([outcome](Reply* reply, const std::string& failure) {
                     if (reply)
                       outcome->reply = std::move(*reply);
                     else
                       outcome->failure = failure;
                     outcome->known.store(true, std::memory_order_release);
                   }));
    const trace::Wait waiting([this] { return "the answer of node " + endpoint().node; });
    using Clock = std::chrono::steady_clock;
    const auto deadline = limit ? Clock::now() + *limit : Clock::time_point::max();
    const auto known = [&] { return outcome->known.load(std::memory_order_acquire); };
    if (!wait([&] { return known() || (limit && Clock::now() >= deadline); }))
      throw Error(CL_OUT_OF_RESOURCES, loss());
    if (!known())
      throw Error(CL_OUT_OF_RESOURCES, "node " + endpoint().node + " did not answer within " +
                                           std::to_string(limit->count()) + " ms");
    if (!outcome->reply) throw Error(CL_OUT_OF_RESOURCES, outcome->failure);
    return std::move(*outcome->reply);
  }
  /// Sends a request without waiting. `answer` is called once, on a receiving thread, or on the background
  /// thread when the limit is over; or at once if the link is lost.
  template <typename Reply, typename M>
  void request(M message, Answer<Reply> answer, const AnswerLimit& limit = {}) {
    const auto id = expect(
        Reply::op,
        [answer = std::move(answer)](void* reply, const std::string& failure) {
          answer(static_cast<Reply*>(reply), failure);
        },
        limit);
    if (id == 0) return;
    message.request = id;
    post(message);
  }

  /// Flushes, then receives (or waits while another thread receives) until done() is true or the link is
  /// lost. done() is called often, on this thread only and without a lock; it must be cheap. It should depend
  /// on what comes through this link; other changes are noticed after Inbox::kLookAgain at the latest.
  /// @returns false if the link was lost before done() was true.
  bool wait(FunctionRef<bool()> done);

  bool lost() const;
  /// Why the link is lost, for messages to people; empty if it is not.
  std::string loss() const;
  /// The node's clock minus ours (CLOCK_MONOTONIC), in ns: add it to our time to get the node's.
  std::int64_t clock_offset() const;
  /// Gives the connection up: the link is lost soon, for this reason, unless it is already.
  void give_up(const std::string& reason);
  /// Tells a worker that would wait for a lost client to come back that this client ends. Nothing is closed,
  /// but nothing may be expected of the link from now on. Returns when the worker has been told, after a
  /// short time at the latest.
  void say_goodbye();
  /// Tells the worker the same, but the link is lost as usual when it ends, so that nobody waits for it: the
  /// connections end while the application's exit handlers may still use OpenCL.
  void announce_end();
  /// Sends Goodbye and closes the sockets; messages that are not sent within a short time are dropped.
  /// Outstanding requests fail. No function of Reports is called after this returns. Further calls do
  /// nothing.
  void close();

 private:
  /// Registers a request. @returns its id; or 0 if the link is lost, in which case `answer` has been called.
  protocol::RequestId expect(protocol::Op reply, Answers::Answer answer, AnswerLimit limit);

  const Birthplace birthplace_;
  const WorkerEndpoint endpoint_;
  std::unique_ptr<Session> session_;
};

}  // namespace clique::icd
