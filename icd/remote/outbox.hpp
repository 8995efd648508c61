// The sending side of a link.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "icd/remote/loans.hpp"
#include "protocol/transport/line.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::icd {

/// Messages on their way to a worker. Appending is a lock and a copy; the system calls are made by whoever
/// finds it large enough, flushes, or by the reactor. The order on the wire is the order of compose(). Any
/// thread.
class Outbox {
 public:
  /// Records beyond this many bytes are sent by the thread that added the last one.
  static constexpr std::size_t kLargeRecords = 16U << 10U;
  /// The same for payloads that wait in frames of their own.
  static constexpr std::size_t kLargePayloads = 256U << 10U;

  /// What the outbox asks of its surroundings. Called on the thread that appends, without a lock of the
  /// outbox.
  class Owner {
   public:
    virtual ~Owner() = default;
    /// The outbox was empty and is not any more: try_flush() is expected before long.
    virtual void appended() = 0;
    /// ZeroMQ refused to send, or the worker to take it. Must not close the outbox from within.
    virtual void failed(const std::string& reason) = 0;
  };

  /// @param shared memory that goes before the socket; may be null.
  Outbox(std::shared_ptr<protocol::Line> commands, std::shared_ptr<protocol::SharedMemory> shared,
         Owner& owner);

  /// Calls compose(batch) under the lock. Dropped where the outbox is closed.
  template <typename F>
  void compose(F&& compose) {
    std::unique_lock lock(mutex_);
    compose(batch_);
    appended(lock);
  }
  /// Sends everything appended so far. Waits where the worker is behind with shared memory.
  void flush();
  /// flush(), unless another thread is sending at the moment.
  void try_flush();
  bool pending();
  /// Connects again, and sends what the worker has not got once that answers try_flush().
  void reconnect();

  /// Drops what was not handed to ZeroMQ, closes the line (which gets `linger_ms` to send the rest), and
  /// returns once ZeroMQ has let go of all payloads.
  void close(int linger_ms);

 private:
  void appended(std::unique_lock<std::mutex>& lock);
  void send_taken();
  /// Calls action(), and tells the owner where that throws.
  template <typename F>
  void try_to(F&& action);
  void send_through_socket();
  void send_through_memory();

  Owner& owner_;
  Loans loans_;

  // Taken before mutex_ and held until ZeroMQ has the batch, so that batches leave in the order in which they
  // were taken, while others go on appending.
  std::mutex sending_mutex_;
  const std::shared_ptr<protocol::Line> commands_;
  const std::shared_ptr<protocol::SharedMemory> shared_;
  protocol::Batch sending_;
  bool crowded_ = false;  // the arena was full, and waiting did not help
  std::atomic<bool> closing_{false};

  std::mutex mutex_;
  protocol::Batch batch_;
  std::size_t payloads_counted_ = 0;  // of batch_.payloads(), in payload_bytes_
  std::size_t payload_bytes_ = 0;
  bool pending_ = false;
  bool closed_ = false;
};

}  // namespace clique::icd
