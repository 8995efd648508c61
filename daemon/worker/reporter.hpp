#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/worker/print_capture.hpp"
#include "daemon/worker/tasks.hpp"
#include "protocol/transport/line.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::daemon {

/// Sends replies and reports to the client, from any thread. What comes while another thread is sending goes
/// out with that thread's next batch, so nobody waits for anybody else's system call.
class Reporter {
 public:
  /// @param socket the ROUTER of the reports. Only the Reporter uses it from open() on.
  /// @param tasks of the main thread, which is woken when there is news for it.
  Reporter(zmq::socket_t socket, PrintCapture& prints, Tasks& tasks);

  /// The socket, to be used by the main thread before open().
  zmq::socket_ref socket() { return socket_; }

  /// Whom to report to, and memory shared with him or null; what was reported before follows `first`, which
  /// says whether the line can be resumed.
  void open(std::string client, std::shared_ptr<protocol::SharedMemory> shared,
            const protocol::Attached& first);
  /// What the client tells of its line, and what others send. Main thread, after open().
  /// @param attach gets messages of others: whether this is the client on a new connection, and how many
  /// batches it has.
  void receive(const std::function<std::optional<std::uint64_t>(const protocol::Incoming&)>& attach);
  /// Takes note of what the client says to have got, so that it need not be kept any more; for a thread that
  /// waits for memory. Any thread.
  void hear();
  /// Whether something for receive() has come; but what comes while all threads sleep is told by descriptor()
  /// alone, which then is readable. After open().
  bool news() const { return news_.load(std::memory_order_relaxed); }
  int descriptor() const { return descriptor_; }

  /// A block for data on its way to the client, which gets it without another copy; null where the client is
  /// on another host. Where there is no room now, waits for some, but not for ever, and then gives null: the
  /// client may be waiting itself. Any thread.
  std::shared_ptr<std::byte> take(std::size_t size);
  /// The same without waiting.
  std::shared_ptr<std::byte> try_take(std::size_t size) { return shared_ ? shared_->take(size) : nullptr; }
  /// The memory that the client sends payloads from; none where it is on another host. After open().
  std::span<std::byte> arena_of_client() const {
    return shared_ ? shared_->incoming() : std::span<std::byte>();
  }

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

  /// Whether kernels may print; where they do not, nobody looks for text. Until it is said, they may. Any
  /// thread.
  void expect_prints(bool may) { prints_expected_.store(may, std::memory_order_relaxed); }
  bool prints_expected() const { return prints_expected_.load(std::memory_order_relaxed); }

  /// A command of another worker has ended; what is printed from now on may depend on it. Any thread.
  void ended_elsewhere(protocol::CommandId command);

  /// Reports the end of the session, after which nothing is reported any more.
  void close(const std::string& reason);

 private:
  class Turn;
  void add_prints();
  bool send();
  /// What the client tells of its line. @returns false for what others have sent
  bool hear(const protocol::Incoming& incoming);

  zmq::socket_t socket_;
  Tasks& tasks_;
  int descriptor_ = -1;
  bool resumable_ = false;
  std::atomic<bool> news_{false};
  std::atomic<bool> prints_expected_{true};
  std::shared_ptr<protocol::SharedMemory> shared_;
  std::string client_;
  std::mutex mutex_;  // guards what follows
  PrintCapture& prints_;
  protocol::Batch pending_;
  std::deque<protocol::CommandId> ended_elsewhere_;
  bool open_ = false;
  bool sending_ = false;  // somebody uses what follows, and will look at pending_ again
  protocol::Batch outgoing_;
  protocol::LineSender line_;
  protocol::BatchReader reader_;
  std::deque<protocol::Incoming> strangers_;  // what hear() has found for receive()
  std::atomic<bool> behind_ = false;
  std::atomic<bool> crowded_ = false;  // waiting for room in shared memory did not help
};

}  // namespace clique::daemon
