// The receiving side of a link.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "icd/common/function_ref.hpp"
#include "icd/remote/link/errand.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "protocol/spin.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::protocol {
class Line;
class SharedMemory;
}  // namespace clique::protocol

namespace clique::icd {

class LinkControl;

namespace detail {
template <typename List>
struct VariantOf;
template <typename... M>
struct VariantOf<protocol::MessageList<M...>> {
  using Type = std::variant<M...>;
};
}  // namespace detail

/// Any message of a worker.
using WorkerMessage = detail::VariantOf<protocol::WorkerMessages>::Type;

/// Receives from a worker. One thread at a time receives (the *leader*): a thread that waits for something,
/// or the background thread. Other waiting threads (*followers*) sleep; they check their conditions after
/// each batch, and one of them takes over when the leader leaves. The thread that has waited longest runs
/// errands.
class Inbox {
 public:
  /// Takes the messages. Called by the leader, without a lock, in the order of arrival. May call wait(),
  /// which then goes on receiving on this thread.
  class Handler {
   public:
    virtual ~Handler() = default;
    /// Throws DecodeError if the message is not allowed now; then the connection is given up.
    virtual void handle(WorkerMessage&& message) = 0;
    /// The connection was given up, and its lines are closed. Called once.
    virtual void ended(const std::string& reason) = 0;
  };

  /// The longest time after which a waiting thread checks its condition again.
  static constexpr std::chrono::milliseconds kLookAgain{100};

  /// The condition that a thread waits for. It neither blocks nor takes a lock.
  using Done = FunctionRef<bool()>;

  /// @param shared memory to receive from instead of the line; may be null.
  /// @param control is stirred when a thread of the application begins or ceases to lead
  Inbox(std::shared_ptr<protocol::Line> reports, std::shared_ptr<protocol::SharedMemory> shared,
        Handler& handler, LinkControl& control);
  ~Inbox();

  /// For the handler: has the thread that has waited longest run the errand, while another one leads. If no
  /// other thread waits, runs it now.
  void run(Errand errand);

  /// Has the receiving thread, or the background thread if there is none, call the function soon. Dropped
  /// once the connection has ended. Any thread.
  void post(std::function<void()> function);

  /// Keeps waiting threads awake for a transfer of this many bytes (protocol::Vigil). Any thread.
  void expect_transfer(std::uint64_t size) { vigil_.prolong(size); }

  /// Receives until done() is true or the connection has ended. done() is called on this thread and, while
  /// another one receives, on that one, one call at a time. @returns the last result of done().
  bool wait(Done done);
  /// For the background thread: receives everything that has arrived, if no thread leads.
  void serve();
  /// Receives from this line too from now on.
  void add(std::shared_ptr<protocol::Line> line);
  /// Has the leader connect this one of the inbox's lines again, after it has handled everything received.
  void reconnect(std::shared_ptr<protocol::Line> line);

  /// The state of the inbox, for the background thread.
  struct View {
    bool ended;            ///< it will never receive again
    bool condemned;        ///< the connection is given up, but not closed yet
    bool led;              ///< a thread receives
    bool settled;          ///< all messages are handled: the descriptor shows the next one
    unsigned attendances;  ///< how often a thread of the application has begun or ceased to lead
  };
  View view();
  /// Before sleeping: appends the descriptors that become readable when a message arrives.
  /// @returns false if there is something to receive already.
  bool rest(std::vector<int>& descriptors);

  /// Gives the connection up; the leader, or serve(), then closes it. Only the first reason counts.
  /// @returns false if it was given up before.
  bool condemn(const std::string& reason);
  /// Gives the connection up and closes it: handles what has arrived, closes the lines, calls Handler::ended.
  /// Returns when that is done, or at once if called from within it.
  void finish(const std::string& reason);

 private:
  /// The order in which threads began to wait: the smaller number has waited longer.
  using Arrival = std::uint64_t;
  /// A thread that waits while another one receives. Under mutex_.
  struct Follower {
    Arrival arrival;
    Done done;
    std::condition_variable turn;
    bool called;  ///< it has to look at its condition, or for something to do
  };
  // All under mutex_.
  static void call(Follower& follower);
  void call_all();
  /// Calls the one that has waited longest, if there is one.
  void call_oldest();
  std::vector<Follower*>::const_iterator oldest_follower() const;
  /// The arrival of the follower that has waited longest; the largest number if there is none.
  Arrival oldest() const;
  bool leading() const { return leader_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }
  /// @param attended the thread is one of the application's
  void leave(bool attended);
  /// @returns true if there is an errand for the leader, which `errand` receives, and a follower can lead.
  bool steps_down(Errand& errand);
  /// Removes the first errand, which the caller must run. Under mutex_.
  Errand take_errand();
  /// @param lock of mutex_
  void run_errand(std::unique_lock<std::mutex>& lock, Errand errand);
  /// For the leader: calls Errand::then of one errand that was run, or runs one that no other thread would.
  /// @returns true if there was any.
  bool settle_errand();
  /// Settles all errands. Returns when no thread runs one.
  void settle_all();
  /// Has the followers check their conditions.
  void handled();
  /// Under mutex_.
  bool unsettled() const { return !errands_.empty() || !afterwards_.empty(); }
  enum class Led : std::uint8_t {
    Done,
    Ended,     ///< the connection has ended, and done() is still false
    ForErrand  ///< there is an errand for this thread
  };
  /// @param errand receives the errand in the last case
  Led lead(Done done, Errand& errand);
  Led lead_and_leave(Done done, Errand& errand);
  bool step();
  bool fetch();
  bool receive();
  bool receive_bulk();
  template <typename List>
  void read(List list);
  void reconnect_broken();
  void handle_fetched();
  void block(std::chrono::milliseconds longest);
  /// @returns true if no errand awaits its Errand::then. A thread that finishes one from now on wakes the
  /// leader.
  bool may_sleep();
  void wake() const;
  void end();

  Handler& handler_;
  LinkControl& control_;
  const int wake_fd_;

  // The leader's.
  const std::shared_ptr<protocol::Line> reports_;
  const std::shared_ptr<protocol::SharedMemory> shared_;
  protocol::Spinning spinning_;
  protocol::Vigil vigil_;  // thread-safe
  protocol::BatchReader reader_;
  protocol::Incoming message_;
  std::size_t next_bulk_ = 0;
  std::vector<int> descriptors_;
  std::vector<pollfd> polled_;
  // Decoded messages, so that a wait() within a handler can continue with those after the handler's.
  std::vector<WorkerMessage> queue_;
  std::size_t next_ = 0;
  unsigned nested_ = 0;    // how many wait() within handlers are active
  bool is_bulk_ = false;   // message_ arrived through a line for large transfers
  bool drained_ = false;   // there was nothing more to receive
  bool poisoned_ = false;  // a message could not be decoded
  bool ending_ = false;
  std::atomic<bool> elsewhere_{false};  // the next batch comes through the line, not through shared memory

  std::atomic<bool> condemned_{false};
  std::atomic<bool> some_broken_{false};
  std::atomic<bool> unsettled_{false};  // written under mutex_

  std::mutex mutex_;
  std::condition_variable errands_over_;
  std::atomic<std::thread::id> leader_{};  // written under mutex_
  std::vector<Follower*> followers_;
  Arrival arrivals_ = 0;
  Arrival leader_arrival_ = 0;
  std::deque<Errand> errands_;
  std::deque<std::function<void()>> afterwards_;  // Errand::then of errands that were run, and post()
  unsigned errands_running_ = 0;                  // of errands with an Errand::then
  unsigned attendances_ = 0;
  bool sleeping_ = false;  // the leader may be asleep
  bool settled_ = false;   // everything had been handled when the last leader left
  bool ended_ = false;
  std::string reason_;
  std::vector<std::shared_ptr<protocol::Line>> bulk_;    // used by the leader; grows
  std::vector<std::shared_ptr<protocol::Line>> broken_;  // to be connected again
};

}  // namespace clique::icd
