#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <variant>
#include <zmq.hpp>

#include "protocol/codec.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::icd {

/// What a worker reports without being asked. Called on whichever thread receives, one call at a time per link; must
/// not wait for the link. What it may do: post to links, lock its own data, run the application's callbacks.
class Reports {
 public:
  virtual ~Reports() = default;
  virtual void event_state(protocol::EventState&& state) = 0;
  virtual void data(protocol::Data&& data) = 0;
  virtual void print(protocol::Print&& text) = 0;
  virtual void failed(protocol::Failed&& failure) = 0;
  /// The connection is gone for good; every request under way fails after this call.
  virtual void lost(const std::string& reason) = 0;
};

/// Where a worker is, and its secret.
struct WorkerEndpoint {
  std::string node;      ///< the node's own name, for messages to people
  std::string commands;  ///< ZeroMQ endpoints
  std::string reports;
  std::string peers;  ///< as other nodes reach it
  std::string token;
};

/// The connection to one worker: an outbox for messages, and an inbox that is served by whoever waits for something,
/// or else by the Reactor. All functions may be called from any thread.
class Link {
 public:
  /// The answer to a request: the message, or why none will come.
  template <typename Reply>
  using Answer = std::function<void(Reply* reply, const std::string& failure)>;

  /// Connects and attaches. Returns once the worker has described itself.
  /// Throws Error(CL_DEVICE_NOT_AVAILABLE) with the cause after `timeout`.
  Link(zmq::context_t& zmq, WorkerEndpoint endpoint, std::chrono::milliseconds timeout);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  const WorkerEndpoint& endpoint() const { return endpoint_; }
  /// What the worker said of its devices.
  const protocol::Attached& attached() const { return attached_; }
  /// Begins delivery. Reports come from now on; the Reactor serves the link.
  void start(Reports& reports);

  /// Appends a message to the outbox. It is sent soon by itself, or by flush(). Dropped where the link is lost.
  template <typename M>
  void post(const M& message) {
    compose([&](protocol::Batch& outbox) { outbox.add(message); });
  }
  /// Calls compose(outbox) under the outbox's lock: what it adds stays together, and what it reads and changes of
  /// state that goes with the order of messages (arguments sent last, for one) is consistent with that order.
  template <typename F>
  void compose(F&& compose) {
    std::unique_lock lock(outbox_mutex_);
    compose(outbox_);
    appended(lock);
  }
  /// Hands what is in the outbox to ZeroMQ.
  void flush();

  /// Sends a request (M has a field `request`, set here) and waits for its reply.
  /// Throws Error(CL_OUT_OF_RESOURCES) with the cause where the link is lost.
  template <typename Reply, typename M>
  Reply request(M message);
  /// The same without waiting: `answer` is called once, on a receiving thread (or at once where the link is lost).
  template <typename Reply, typename M>
  void request(M message, Answer<Reply> answer);

  /// Flushes, then receives (or waits while another thread receives) until done() is true or the link is lost. done()
  /// is called often, from this thread only; it must be cheap.
  /// @returns false where the link was lost before done() was true.
  template <typename Done>
  bool wait(Done&& done);

  bool lost() const { return lost_.load(std::memory_order_acquire); }
  /// The node's clock minus ours (CLOCK_MONOTONIC), ns: add to ours to get the node's.
  std::int64_t clock_offset() const { return clock_offset_.load(std::memory_order_relaxed); }
  /// Says Goodbye and closes the sockets.
  void close();

 private:
  // ... the implementation's
};

}  // namespace clique::icd
