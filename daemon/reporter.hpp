#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/print_capture.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::daemon {

/// Sends replies and reports to the client, from any thread. What comes while another thread is sending goes
/// out with that thread's next batch, so nobody waits for anybody else's system call.
class Reporter {
 public:
  /// @param socket the ROUTER of the reports. Only the Reporter uses it from open() on.
  Reporter(zmq::socket_t socket, PrintCapture& prints) : socket_(std::move(socket)), prints_(prints) {}

  /// The socket, to be used by the main thread before open().
  zmq::socket_ref socket() { return socket_; }

  /// Whom to report to, and memory shared with him or null; what was reported before follows `first`.
  void open(std::string client, std::shared_ptr<protocol::SharedMemory> shared,
            const protocol::Attached& first);

  /// A block for data on its way to the client, which gets it without another copy; null where the client is
  /// on another host. Where there is no room now, waits for some, but not for ever, and then gives null: the
  /// client may be waiting itself. Any thread.
  std::shared_ptr<std::byte> take(std::size_t size);
  /// The same without waiting.
  std::shared_ptr<std::byte> try_take(std::size_t size) { return shared_ ? shared_->take(size) : nullptr; }

  /// Reports one message. What kernels printed goes before the end of a command. Any thread.
  template <typename M>
  void report(const M& message) {
    add(message);
    flush();
  }

  /// report() without sending: flush() has to follow. Any thread.
  template <typename M>
  void add(const M& message) {
    const std::lock_guard lock(mutex_);
    if constexpr (M::op == protocol::Op::EventState || M::op == protocol::Op::Finished) add_prints();
    pending_.add(message);
  }
  void flush();
  /// Whether something could not be sent, since the client is behind: flush() is to be called again soon.
  bool behind() const { return behind_.load(std::memory_order_relaxed); }
  /// Whether all that was reported before this call is with the client. What is not may be in the hands of
  /// another thread. Any thread.
  bool settled();

  /// A command of another worker has ended; what is printed from now on may depend on it. Any thread.
  void ended_elsewhere(protocol::CommandId command);

  /// Drops what strangers send to this socket. Any thread; to be called now and then.
  void drain();

  /// Reports the end of the session, after which nothing is reported any more.
  void close(const std::string& reason);

 private:
  void add_prints();
  bool send();

  zmq::socket_t socket_;
  std::shared_ptr<protocol::SharedMemory> shared_;
  std::string client_;
  std::mutex mutex_;  // guards what follows
  PrintCapture& prints_;
  protocol::Batch pending_;
  std::deque<protocol::CommandId> ended_elsewhere_;
  bool open_ = false;
  bool sending_ = false;  // somebody uses socket_ and outgoing_, and will look at pending_ again
  protocol::Batch outgoing_;
  std::atomic<bool> behind_ = false;
  std::atomic<bool> crowded_ = false;  // waiting for room in shared memory did not help
};

}  // namespace clique::daemon
