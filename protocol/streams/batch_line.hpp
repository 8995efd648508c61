// One end of a line that carries batches, over successive connections.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "protocol/security/openssl.hpp"
#include "protocol/streams/batch_connection.hpp"
#include "protocol/streams/batch_record.hpp"
#include "protocol/streams/readiness.hpp"
#include "protocol/transport/acknowledgements.hpp"
#include "protocol/transport/incoming.hpp"

namespace clique::protocol {

class Batch;

/// Carries batches in both directions (protocol/README.md). Nothing waits, and there is no thread: whoever
/// sends calls the system, and so does whoever receives. What the system does not take is sent by later calls
/// of any function; descriptor() is readable when that is worthwhile. Thread-safe: threads that send wait for
/// each other, and so do threads that receive.
class BatchLine : private OpensslUser {
 public:
  using Clock = std::chrono::steady_clock;

  /// Throws std::system_error.
  BatchLine();
  ~BatchLine() override;

  /// Whether sent batches are kept, and received batches acknowledged, as is the default. Otherwise the
  /// present connection is the only one.
  void set_resumable(bool yes);

  /// Goes on with this connection. Replaces the one before. Throws DecodeError if the other end claims what
  /// cannot be, and SecurityError.
  /// @param connection says what the other end has received
  void install(Dialled connection, StreamEnd end);
  /// For the end that accepts: goes on with this connection, whose request is authentic.
  /// @returns false if it is older than the present one, or has ended already. Throws as install().
  bool accept(Fd socket, const StreamRequest& request, std::span<const std::uint8_t> secret);
  /// Ends the connection. @param why for people
  void interrupt(const std::string& why);
  /// interrupt(), and drops what has arrived but was not received: received() does not change any more until
  /// there is another connection. Not for a handler of receive().
  void abandon(const std::string& why);
  /// Whether there is a connection, as far as this end knows.
  bool connected() const { return connected_.load(std::memory_order_acquire); }
  /// Whether there has been a connection that has ended, and not another one since.
  bool broken() const { return broken_.load(std::memory_order_acquire); }
  /// Why the last connection has ended.
  std::string why();
  /// Whether it has ended because the other end closed it, as the system does when a process ends.
  bool closed_there() const { return closed_there_.load(); }
  /// Notices that the other end has closed the connection, without receive(), if nothing is left to be
  /// received.
  void look_for_end();
  /// Whether the system has something that nobody has received yet.
  bool has_unread();
  /// Whether the connection has ended, even if nobody has received everything that came before.
  bool hung_up();
  /// Batches that have arrived since the line began.
  std::uint64_t received() const { return received_.load(std::memory_order_relaxed); }
  /// Whether anything has arrived since the line began.
  bool spoken() const { return spoken_.load(std::memory_order_relaxed); }
  /// When anything last arrived on the connection, or it was made.
  Clock::time_point heard() const { return Clock::time_point(Clock::duration(heard_.load())); }

  /// Sends a batch and clears it. It is kept until the other end has it, or, if the line cannot be resumed,
  /// until the system has taken it. Throws SecurityError.
  void send(Batch& batch);
  /// Sends what the system did not take before.
  void flush();
  /// Whether flush() has something to do. Any thread.
  bool behind() const { return behind_.load(std::memory_order_relaxed); }
  /// Tells the other end that this one is alive, unless something else is being sent. Throws as send().
  void pulse();

  /// Receives one batch. @returns false if there is none. Throws DecodeError and SecurityError.
  bool receive(Incoming& incoming);
  /// Receives what precedes the next batch, such as acknowledgements. Throws as receive().
  void listen();

  /// Readable when something has arrived since receive() has last returned false, and when the system takes
  /// more of what is to be sent. Constant.
  int descriptor() const { return readiness_.fd(); }
  /// The socket of the connection; -1: there is none.
  int socket() const { return socket_.load(std::memory_order_relaxed); }

  /// Ends the connection, and drops what was to be sent, after waiting for the system to take it for
  /// `linger_ms`.
  void close(int linger_ms);

 private:
  using Lock = std::unique_lock<std::mutex>;

  // OpensslUser
  void stop_use() override;

  /// Under receiving_.
  bool receive_next(Incoming& incoming);
  /// Has whoever may send look for acknowledgements that have come and those that are due.
  void poke();
  /// Under sending_: sends what the system takes. @param done receives what need not be kept any more
  void push(std::vector<OutgoingRecord>& done);
  /// Under sending_: lets go of what the other end has.
  /// @param unsent even if it was not sent on this connection
  void drop_received(std::vector<OutgoingRecord>& done, bool unsent);
  /// Calls push(), and lets go of what it has sent without the lock.
  void push_and_release(Lock& lock);
  void watch(bool writable);

  Readiness readiness_;
  std::atomic<bool> resumable_{true};
  std::atomic<bool> connected_{false};
  std::atomic<bool> broken_{false};
  std::atomic<bool> closed_there_{false};
  std::atomic<bool> ended_{false};
  std::atomic<int> socket_{-1};
  std::atomic<Clock::rep> heard_{0};
  std::atomic<bool> spoken_{false};

  std::mutex receiving_;                       // guards what receives; locked before sending_
  std::shared_ptr<BatchConnection> receiver_;  // null: there is no connection
  std::optional<Incoming> ready_;              // what listen() has found
  std::exception_ptr refused_;                 // what has arrived breaks the rules
  Acknowledgements acknowledgements_;
  std::atomic<std::uint64_t> received_{0};
  std::uint32_t attempt_ = 0;  // of the last connection that was accepted

  std::mutex sending_;  // guards what sends, from here on
  std::shared_ptr<BatchConnection> sender_;
  std::deque<OutgoingRecord> kept_;        // batches
  std::size_t next_ = 0;                   // the first of them to be sent on this connection
  std::atomic<std::uint64_t> taken_{0};    // batches since the line began
  std::optional<OutgoingRecord> control_;  // a record without a batch that is being sent
  bool writable_watched_ = false;
  std::string why_;

  std::atomic<std::uint64_t> received_there_{0};  // batches that the other end has
  std::atomic<bool> owes_{false};                 // an acknowledgement
  std::atomic<bool> pulse_due_{false};
  std::atomic<bool> poked_{false};
  std::atomic<bool> behind_{false};
};

}  // namespace clique::protocol
