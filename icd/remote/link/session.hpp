// The session with one worker.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "icd/remote/link/answers.hpp"
#include "icd/remote/link/inbox.hpp"
#include "icd/remote/link/outbox.hpp"
#include "icd/remote/link/reconnect.hpp"
#include "icd/remote/link/report_dispatch.hpp"
#include "icd/remote/link/upkeep.hpp"
#include "icd/remote/link/worker_clock.hpp"
#include "icd/remote/transfers/bulk_lines.hpp"
#include "icd/remote/transfers/bulk_streams.hpp"
#include "icd/remote/transfers/shared_route.hpp"
#include "icd/remote/transfers/uploads.hpp"
#include "protocol/messages/session.hpp"

namespace clique::protocol {
class StreamLine;
class ZmqContext;
}  // namespace clique::protocol

namespace clique::icd {

class GuestSegments;
class Reports;
struct WorkerEndpoint;

/// How long a worker on this host may take to hand memory over, or to take it.
inline constexpr std::chrono::milliseconds kOfferTimeout{1000};

/// The state of a link while it lives, and the parts that serve it:
///
/// - Outbox and Inbox: commands to the worker, reports from it;
/// - ReportDispatch and Answers: to whom what comes goes;
/// - Uploads, through BulkStreams, BulkLines or SharedRoute: large transfers to the worker;
/// - Reconnect: broken lines;
/// - WorkerClock: the worker's clock;
/// - Upkeep: what the background thread does.
///
/// The session itself is what happens to all of them: opening, starting, ending. Link is its public side; a
/// forked child leaks it.
class Session final : private Inbox::Handler {
 public:
  /// Begins to connect. Throws Error(CL_DEVICE_NOT_AVAILABLE). @param timeout for taking the worker's shared
  /// memory.
  Session(protocol::ZmqContext& zmq, const WorkerEndpoint& worker, std::chrono::milliseconds timeout);
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Waits until the worker has described itself and its clock is known. Throws
  /// Error(CL_DEVICE_NOT_AVAILABLE) with the cause.
  void open(std::chrono::milliseconds timeout);
  /// Begins to deliver reports.
  void start(Reports& reports);
  /// Link::say_goodbye.
  void say_goodbye();
  /// Link::announce_end.
  void announce_end();
  /// Link::close.
  void close();
  /// Link::wait.
  bool wait(FunctionRef<bool()> done);

  bool lost() const { return lost_.load(std::memory_order_acquire); }
  std::string loss();
  const protocol::Attached& attached() const { return attached_; }
  /// Link::uses_streams.
  bool uses_streams() const { return !shared_ && streams_.usable(); }
  /// Link::largest_with_commands.
  std::size_t largest_with_commands() const;
  const std::shared_ptr<protocol::SharedMemory>& shared_memory() const { return shared_; }
  /// Where segments can be placed; null: nowhere.
  GuestSegments* segments() const { return segments_.get(); }
  /// Has connections for large transfers, if such transfers do not go through shared memory.
  void expect_pushes();

  Answers& answers() { return answers_; }
  Outbox& outbox() { return outbox_; }
  Inbox& inbox() { return inbox_; }
  Uploads& uploads() { return uploads_; }
  LinkControl& control() { return upkeep_; }
  std::int64_t clock_offset() const { return clock_.offset(); }

 private:
  /// Tells the worker that this client ends.
  void send_goodbye();
  // Inbox::Handler
  void handle(WorkerMessage&& message) override;
  void ended(const std::string& reason) override;

  void describe(protocol::Attached&& attached);
  std::size_t upload_window() const;
  /// How many streams carry large transfers; 1 if none do.
  unsigned stream_count() const;
  bool long_way() const;
  Uploads::Way& upload_way();

  const WorkerEndpoint& worker_;
  std::shared_ptr<GuestSegments> segments_;               // null: none; set with shared_
  const std::shared_ptr<protocol::SharedMemory> shared_;  // null: none
  const std::shared_ptr<protocol::StreamLine> stream_;    // null: commands and reports go over ZeroMQ
  const std::shared_ptr<protocol::Line> commands_;        // with streams, both are stream_
  const std::shared_ptr<protocol::Line> reports_;

  // The parts refer to each other. Upkeep comes first, since others call it until they are gone.
  Upkeep upkeep_;
  Answers answers_;
  Outbox outbox_;
  Inbox inbox_;
  BulkLines bulk_;
  BulkStreams streams_;
  SharedRoute shared_route_;
  Uploads uploads_;
  ReportDispatch dispatch_;
  Reconnect reconnect_;
  WorkerClock clock_;

  protocol::Attached attached_;
  std::atomic<bool> described_{false};      // attached_ is set
  std::chrono::nanoseconds round_trip_{0};  // of the network; 0 in shared memory
  std::atomic<bool> closing_{false};        // this side closes the link
  std::mutex mutex_;
  std::string loss_;  // under mutex_
  std::atomic<bool> lost_{false};
};

}  // namespace clique::icd
