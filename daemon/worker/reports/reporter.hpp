#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/worker/connections/traffic.hpp"
#include "daemon/worker/reports/print_capture.hpp"
#include "daemon/worker/tasks.hpp"
#include "daemon/worker/transfers/waiting_data.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages/message.hpp"
#include "protocol/messages/session.hpp"
#include "protocol/messages/synchronisation.hpp"
#include "protocol/streams/batch_line.hpp"
#include "protocol/transport/shared_memory.hpp"
#include "protocol/transport/zmq_line.hpp"

namespace clique::daemon {

/// Sends replies and reports to the client, from any thread. A message that is added while another thread
/// sends goes out with that thread's next batch, so no thread waits for another one's system call.
class Reporter {
 public:
  /// @param socket the ROUTER for reports, which only the Reporter uses from open() on
  /// @param tasks of the main thread, which they wake up when there is something for receive()
  /// @param waiting counts the data of replies until the client has received it
  Reporter(zmq::socket_t socket, PrintCapture& prints, Tasks& tasks, WaitingData& waiting);

  /// The socket, for the main thread, before open().
  zmq::socket_ref socket() { return socket_; }

  /// Starts sending, with `first` and then all earlier reports.
  /// @param line of the client; null: it has connections over ZeroMQ
  /// @param client routing id of its reports connection in that case
  /// @param shared memory shared with the client; null if it is on another host
  /// @param first says whether the line can be resumed
  void open(std::shared_ptr<protocol::BatchLine> line, std::string client,
            std::shared_ptr<protocol::SharedMemory> shared, const protocol::Attached& first);
  /// Receives the client's acknowledgements, and what other connections send. Main thread, after open(). Not
  /// if the client has a line: that is received with its commands.
  /// @param attach is called with the messages of other connections. It returns how many batches the client
  /// has received if the message is the client's, on a new connection.
  void receive(const std::function<std::optional<std::uint64_t>(const protocol::Incoming&)>& attach);
  /// Receives the client's acknowledgements, which free what was kept for it; for a thread that waits for
  /// memory. Any thread.
  void hear();
  /// Whether there is something for receive(). What arrives while all threads sleep makes only descriptor()
  /// readable. After open().
  bool news() const { return news_.load(std::memory_order_relaxed); }
  int descriptor() const { return descriptor_; }

  /// A block of shared memory for data to the client, which reads it without another copy. Waits up to 100 ms
  /// for room, but not longer, since the client may be waiting for this worker. Any thread.
  /// @returns null when the client is on another host or there is no room
  std::shared_ptr<std::byte> take(std::size_t size);
  /// take() without waiting.
  std::shared_ptr<std::byte> try_take(std::size_t size) { return shared_ ? shared_->take(size) : nullptr; }
  /// The memory that the client sends payloads from; empty if it is on another host. After open().
  std::span<std::byte> arena_of_client() const {
    return shared_ ? shared_->incoming() : std::span<std::byte>();
  }

  /// Reports one message. Text that kernels have printed precedes a command's completion. Any thread.
  template <typename M>
  void report(const M& message) {
    add(message);
    flush();
  }

  /// report() without sending; flush() has to follow. Any thread.
  template <typename M>
  void add(const M& message) {
    const std::lock_guard lock(mutex_);
    urgent_ = true;
    if constexpr (M::op == protocol::Op::EventState || M::op == protocol::Op::Finished) add_prints();
    if constexpr (M::op == protocol::Op::Data) {
      M counted = message;
      waiting_.count(counted.data);
      pending_.add(counted);
    } else {
      pending_.add(message);
    }
  }
  /// add() of a report that flush() need not send: it goes with the next one that add() adds, once there are
  /// many, or with flush_unhurried(). Any thread.
  void add_unhurried(const protocol::EventState& state);
  void flush();
  /// Sends what add_unhurried() has added if the oldest has waited for protocol::kLongestUnhurried. Main
  /// thread.
  void flush_unhurried();
  /// Whether flush_unhurried() has to be called again within protocol::kLongestUnhurried. If this becomes
  /// true while the main thread sleeps, it is woken up. Any thread.
  bool unhurried() const { return oldest_unhurried_.load(std::memory_order_relaxed) != 0; }
  /// Whether the client has not read enough for everything to be sent: flush() has to be called again soon.
  bool behind() const { return behind_.load(std::memory_order_relaxed); }
  /// Whether everything that was reported before this call has been sent. Another thread may be sending the
  /// rest. Any thread.
  bool settled();

  /// Whether kernels may print, which is assumed until this is called. If not, no time is spent on looking
  /// for text. Any thread.
  void expect_prints(bool may) { prints_expected_.store(may, std::memory_order_relaxed); }
  bool prints_expected() const { return prints_expected_.load(std::memory_order_relaxed); }

  /// A command of another worker has completed; what is printed from now on may depend on it. Any thread.
  void ended_elsewhere(protocol::CommandId command);

  /// Reports the end of the session, after which nothing else is reported.
  void close(const std::string& reason);

  /// Bytes that were sent to the client. Any thread.
  std::uint64_t sent_through_network() const { return to_network_.value(); }
  std::uint64_t sent_through_memory() const { return to_memory_.value(); }

 private:
  class Turn;
  void add_prints();
  bool send();
  /// Reads an acknowledgement of the client. @returns false for a message of another connection.
  bool hear(const protocol::Incoming& incoming);

  zmq::socket_t socket_;
  Tasks& tasks_;
  WaitingData& waiting_;
  int descriptor_ = -1;
  bool resumable_ = false;
  std::atomic<bool> news_{false};
  std::atomic<bool> prints_expected_{true};
  std::shared_ptr<protocol::SharedMemory> shared_;
  std::shared_ptr<protocol::BatchLine> stream_;  // null: socket_ leads to the client
  std::string client_;
  std::mutex mutex_;  // guards the members from here to sending_
  PrintCapture& prints_;
  protocol::Batch pending_;
  std::deque<protocol::CommandId> ended_elsewhere_;
  bool open_ = false;
  bool urgent_ = false;     // pending_ has something that flush() has to send
  unsigned unhurried_ = 0;  // reports in pending_ that add_unhurried() has added
  /// When the first of them was added, in nanoseconds of the steady clock; 0: there is none.
  std::atomic<std::int64_t> oldest_unhurried_ = 0;
  bool sending_ = false;  // a thread uses the members below, and will look at pending_ again
  protocol::Batch outgoing_;
  protocol::LineSender line_;
  Counter to_network_;
  Counter to_memory_;
  protocol::BatchReader reader_;
  std::deque<protocol::Incoming> strangers_;  // messages of other connections, for receive()
  std::atomic<bool> behind_ = false;
  std::atomic<bool> crowded_ = false;  // the last wait for room in shared memory was in vain
};

}  // namespace clique::daemon
