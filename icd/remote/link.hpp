// The connection to one worker.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <zmq.hpp>

#include "icd/common/error.hpp"
#include "icd/remote/inbox.hpp"
#include "icd/remote/outbox.hpp"
#include "icd/remote/process.hpp"
#include "protocol/codec.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::icd {

/// What a worker reports without being asked. Called on whichever thread receives, one call at a time per
/// link; must not wait for the link. What it may do: post to links, lock its own data, run the application's
/// callbacks. (A callback that waits for the link nevertheless is served: it goes on receiving, on its
/// thread.)
class Reports {
 public:
  virtual ~Reports() = default;
  virtual void event_state(protocol::EventState&& state) = 0;
  virtual void data(protocol::Data&& data) = 0;
  /// A part of what was pushed here, in any order, and not in order with other reports.
  virtual void pushed(protocol::PeerData&& part) = 0;
  virtual void print(protocol::Print&& text) = 0;
  virtual void failed(protocol::Failed&& failure) = 0;
  /// The worker cannot reach another one.
  virtual void unreachable(protocol::PeerId peer) = 0;
  /// The connection is gone for good. Called once, and not for a close() of one's own. Link::lost() is true,
  /// every payload has been let go of; requests under way fail after this call, and threads in wait() return
  /// after it.
  virtual void lost(const std::string& reason) = 0;
};

/// Where a worker is, and its secret.
struct WorkerEndpoint {
  std::string node;      ///< the node's own name, for messages to people
  std::string commands;  ///< ZeroMQ endpoints
  std::string reports;
  std::string peers;  ///< as other nodes reach it
  std::string token;
  std::string shared;                    ///< see protocol::WorkerAddress
  std::shared_ptr<const void> lifeline;  ///< what the worker needs to go on; held by the link. May be empty.
  std::uint32_t driver = 0;              ///< protocol::Driver::id
};

/// The connection to one worker: an outbox for messages, and an inbox that is served by whoever waits for
/// something, or else by the Reactor. All functions may be called from any thread. In a forked child of the
/// process that made it, a link is lost, and its destructor leaves everything as it is.
///
/// Memory of payloads: `Payload::bytes` must stay valid until the payload's owner is let go of, or the worker
/// has answered for the command, or the link is lost (Reports::lost, wait() returning false, a failed
/// request) or closed: ZeroMQ reads none of it from then on. Owners are let go of on any thread, ZeroMQ's
/// too; their destructors must not call links.
class Link {
 public:
  /// The answer to a request: the message, or why none will come.
  template <typename Reply>
  using Answer = std::function<void(Reply* reply, const std::string& failure)>;

  /// Connects and attaches. Returns once the worker has described itself and its clock is known.
  /// Throws Error(CL_DEVICE_NOT_AVAILABLE) with the cause, after `timeout` at the latest.
  Link(zmq::context_t& zmq, WorkerEndpoint endpoint, std::chrono::milliseconds timeout);
  /// close().
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  const WorkerEndpoint& endpoint() const { return endpoint_; }
  /// What the worker said of its devices.
  const protocol::Attached& attached() const { return attached_; }
  /// Begins delivery. To be called once, before the first post(). `reports` has to outlive the link's
  /// close(). A link that has been lost already calls Reports::lost from here.
  void start(Reports& reports);

  /// Appends a message to the outbox. It is sent soon by itself, or by flush(). Dropped where the link is
  /// lost.
  template <typename M>
  void post(const M& message) {
    compose([&](protocol::Batch& outbox) { outbox.add(message); });
  }
  /// Calls compose(outbox) under the outbox's lock: what it adds stays together, and what it reads and
  /// changes of state that goes with the order of messages (arguments sent last, for one) is consistent with
  /// that order. Must not call functions of this link, nor take locks under which somebody posts. Not
  /// called at all in a forked child.
  template <typename F>
  void compose(F&& compose) {
    if (birthplace_.foreign()) return;
    outbox_->compose(std::forward<F>(compose));
  }
  /// Hands what is in the outbox to ZeroMQ.
  void flush();

  /// Whether what is sent goes through memory that is shared with the worker.
  bool shares_memory() const;
  /// Whether the way is so long that one connection, which holds only so much, does not fill it.
  bool is_long_way() const { return long_way_; }
  /// A block of the memory in which payloads go to the worker, and how far into that it begins; no block
  /// where none is shared, or where there is no room.
  struct SharedBlock {
    std::shared_ptr<std::byte> bytes;
    std::uint64_t offset = 0;
  };
  SharedBlock take_shared(std::size_t size) const;
  /// Shares more memory with it. Waits for the worker, but not for long. @returns whether it has it.
  bool give(protocol::ObjectId id, const protocol::SharedSegment& segment) const;

  /// Sends the content of a transfer that the worker has been told, by a message posted before, to Expect. It
  /// goes beside the commands, in parts, and at the worker's pace. `content` as other payloads' memory; where
  /// the transfer fails, only after cancel_upload() is none of it read.
  void upload(protocol::CommandId transfer, protocol::Payload content);
  /// `then` is called, on any thread, when nothing of the transfer is read any more.
  void cancel_upload(protocol::CommandId transfer, std::function<void()> then);
  /// Inbox::run(), for what handles reports.
  void run(Inbox::Errand errand);
  /// To be called before a Push to protocol::kClientPeer is posted. Its parts may be in place after what is
  /// reported later.
  void expect_pushes();

  /// Inbox::expect_transfer(), before a transfer between the device and memory shared with it is posted.
  void expect_transfer(std::uint64_t size);

  /// Sends a request (M has a field `request`, set here) and waits for its reply.
  /// Throws Error(CL_OUT_OF_RESOURCES) with the cause where the link is lost.
  template <typename Reply, typename M>
  Reply request(M message) {
    struct Outcome {
      std::optional<Reply> reply;
      std::string failure;
      std::atomic<bool> known{false};
    };
    // Shared, since the answer may come after this thread has gone on without it.
    auto outcome = std::make_shared<Outcome>();
    request<Reply>(std::move(message), Answer<Reply>([outcome](Reply* reply, const std::string& failure) {
                     if (reply)
                       outcome->reply = std::move(*reply);
                     else
                       outcome->failure = failure;
                     outcome->known.store(true, std::memory_order_release);
                   }));
    if (!wait([&] { return outcome->known.load(std::memory_order_acquire); }))
      throw Error(CL_OUT_OF_RESOURCES, loss());
    if (!outcome->reply) throw Error(CL_OUT_OF_RESOURCES, outcome->failure);
    return std::move(*outcome->reply);
  }
  /// The same without waiting: `answer` is called once, on a receiving thread (or at once where the link is
  /// lost).
  template <typename Reply, typename M>
  void request(M message, Answer<Reply> answer) {
    const auto id = expect(Reply::op, [answer = std::move(answer)](void* reply, const std::string& failure) {
      answer(static_cast<Reply*>(reply), failure);
    });
    if (id == 0) return;
    message.request = id;
    post(message);
  }

  /// Flushes, then receives (or waits while another thread receives) until done() is true or the link is
  /// lost. done() is called often, from this thread only and without a lock; it must be cheap. What makes it
  /// true is expected to come through this link; anything else is noticed after Inbox::kLookAgain at the
  /// latest.
  /// @returns false where the link was lost before done() was true.
  template <typename Done>
  bool wait(Done&& done) {
    using Function = std::remove_reference_t<Done>;
    return wait_for({[](void* object) -> bool { return (*static_cast<Function*>(object))(); },
                     const_cast<void*>(static_cast<const void*>(std::addressof(done)))});
  }

  bool lost() const { return birthplace_.foreign() || lost_.load(std::memory_order_acquire); }
  /// Why the link is lost, for messages to people; empty where it is not.
  std::string loss() const;
  /// The node's clock minus ours (CLOCK_MONOTONIC), ns: add to ours to get the node's.
  std::int64_t clock_offset() const { return clock_offset_.load(std::memory_order_relaxed); }
  /// Gives the connection up: soon it is lost, for this reason. Where it is not already.
  void give_up(const std::string& reason);
  /// Tells a worker that would wait for a lost client that this one ends. Nothing is closed, but nothing may
  /// be expected of the link from now on. Returns once the worker has heard it, after a short time at the
  /// latest.
  void say_goodbye();
  /// Says Goodbye and closes the sockets; what has not been sent within a short time is dropped. Requests
  /// under way fail; Reports hears nothing any more once this returns. Further calls do nothing.
  void close();

 private:
  class Session;
  /// Notes that a reply is awaited. @returns the request's id, or 0 where the link is lost and `answer` was
  /// called.
  protocol::RequestId expect(protocol::Op reply, std::function<void(void*, const std::string&)> answer);
  bool wait_for(Inbox::Done done);

  const Birthplace birthplace_;
  const WorkerEndpoint endpoint_;
  protocol::Attached attached_;
  bool long_way_ = false;
  std::atomic<bool> lost_{false};
  std::atomic<std::int64_t> clock_offset_{0};
  std::unique_ptr<Session> session_;
  Outbox* outbox_ = nullptr;  // the session's
};

}  // namespace clique::icd
