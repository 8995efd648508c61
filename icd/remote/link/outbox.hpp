// The sending side of a link.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

#include "icd/common/function_ref.hpp"
#include "icd/remote/link/loans.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"

namespace clique::protocol {
class Line;
class SharedMemory;
}  // namespace clique::protocol

namespace clique::icd {

class LinkControl;

/// Messages that wait to be sent to a worker. Appending takes a lock and copies the message. Messages are
/// sent by the thread whose message makes the batch large or finds that it has waited for its turn, by a
/// thread that flushes, or by the background thread. They are sent in the order in which they were appended.
/// Thread-safe.
class Outbox {
 public:
  /// The thread that appends sends the batch if its records are larger than this, in bytes.
  static constexpr std::size_t kLargeRecords = 16U << 10U;
  /// The same for payloads, which travel in frames of their own.
  static constexpr std::size_t kLargePayloads = 256U << 10U;
  /// After a flush, the thread that appends sends the next batch if its first message is older than this, so
  /// that the device starts while the application enqueues. Each batch until the next flush may become twice
  /// as old, so that a thread which only enqueues sends large batches before long.
  static constexpr std::chrono::microseconds kFirstTurn{8};
  /// Older batches are left to the background thread, which sends messages of this age in any case.
  static constexpr std::chrono::microseconds kLastTurn{500};

  /// @param shared memory to send through instead of the line; may be null.
  /// @param control is stirred when the outbox becomes non-empty, and told of failures to send, without a
  /// lock of the outbox. Must not close the outbox from within.
  Outbox(std::shared_ptr<protocol::Line> commands, std::shared_ptr<protocol::SharedMemory> shared,
         LinkControl& control);

  /// Calls function(batch) under the lock, to append to the batch. What it appends is dropped if the outbox
  /// is closed.
  void compose(FunctionRef<void(protocol::Batch&)> function);
  /// Sends everything appended so far. Waits while the worker is behind with shared memory.
  void flush();
  /// flush(), unless another thread is sending at the moment. Also takes what the worker sends on this line.
  void try_flush();
  /// try_flush() for the background thread, which leaves messages to a thread that appends more of them,
  /// unless they have waited for kLastTurn.
  void tend();
  /// True if there is something to send.
  bool pending();
  /// Connects again. The worker's answer, which try_flush() takes, says what has to be sent again.
  void reconnect();

  /// Drops what was not handed to the line and closes it, which may send the rest for `linger_ms`
  /// milliseconds. Returns when all payloads are released.
  void close(int linger_ms);

 private:
  using Clock = std::chrono::steady_clock;

  void appended(std::unique_lock<std::mutex>& lock);
  /// Whether the batch has waited for its turn. To be called with mutex_ held.
  bool turn_over();
  /// @param next_turn of the batch that follows; nothing: as it is
  void send_taken(std::optional<std::chrono::microseconds> next_turn = std::nullopt);
  void try_to_send(bool wanted);
  /// Calls action(); gives the link up if that throws.
  void try_to(FunctionRef<void()> action);
  void send_through_socket();
  void send_through_memory();

  LinkControl& control_;
  Loans loans_;

  // Locked before mutex_, until the line has the batch: batches are sent in the order in which they were
  // taken, and other threads can append meanwhile. Guards the members up to mutex_.
  std::mutex sending_mutex_;
  const std::shared_ptr<protocol::Line> commands_;
  const std::shared_ptr<protocol::SharedMemory> shared_;
  protocol::Batch sending_;
  bool crowded_ = false;  // the arena was full, and waiting has not helped
  std::atomic<bool> closing_{false};

  std::mutex mutex_;  // guards the members below
  protocol::Batch batch_;
  std::size_t payloads_counted_ = 0;  // how many of batch_.payloads() payload_bytes_ includes
  std::size_t payload_bytes_ = 0;
  bool pending_ = false;
  Clock::time_point pending_since_;
  std::chrono::microseconds turn_ = kFirstTurn;  // how long the batch waits while others are appended
  unsigned long appends_ = 0;
  unsigned long appends_seen_ = 0;  // by tend()
  bool closed_ = false;
};

}  // namespace clique::icd
