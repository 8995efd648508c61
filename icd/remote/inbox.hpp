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

#include "protocol/spin.hpp"
#include "protocol/transport/line.hpp"
#include "protocol/transport/shared_memory.hpp"

namespace clique::icd {

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

/// Receives from a worker. One thread at a time does (the *leader*): one that waits for something, or the
/// reactor. The others that wait sleep, look again after everything that came, and take over when the leader
/// leaves. Whoever has waited longest does what takes long.
class Inbox {
 public:
  /// Whom the messages are for. Called by the leader, without a lock, in the order of arrival; may call
  /// wait(), which then goes on receiving on this thread.
  class Handler {
   public:
    virtual ~Handler() = default;
    /// Throws DecodeError where the message may not come now; the connection is given up then.
    virtual void handle(WorkerMessage&& message) = 0;
    /// The connection was given up, its lines closed. Called once.
    virtual void ended(const std::string& reason) = 0;
    /// An application's thread has begun or ceased to lead.
    virtual void attendance_changed() = 0;
    /// The leader has nothing to do. @returns how long it may sleep.
    virtual std::chrono::milliseconds idle() = 0;
  };

  /// After this time at the latest, done() is looked at again.
  static constexpr std::chrono::milliseconds kLookAgain{100};

  /// A predicate of the caller's, without a copy.
  struct Done {
    bool (*function)(void*);
    void* object;
    bool operator()() const { return function(object); }
  };

  /// @param shared memory that goes before the socket; may be null.
  Inbox(std::shared_ptr<protocol::Line> reports, std::shared_ptr<protocol::SharedMemory> shared,
        Handler& handler);
  ~Inbox();

  /// What takes long, such as to copy much, so that who waits for something else need not wait for it.
  struct Errand {
    /// Called on any thread. Calls nothing of the application's, and nothing that waits for messages.
    std::function<void()> run;
    /// Called afterwards by the leader; may be empty.
    std::function<void()> then;
  };
  /// For the handler: where other threads wait, the one that has waited longest does it, while another one
  /// leads; else it is done now.
  void run(Errand errand);

  /// Has threads that wait stay awake for a transfer of so many bytes (protocol::Vigil). Any thread.
  void expect_transfer(std::uint64_t size) { vigil_.prolong(size); }

  /// Receives until done() or the end. done() is called on this thread only, without a lock.
  /// @returns what done() said last.
  bool wait(Done done);
  /// For the reactor: receives what there is, if nobody leads.
  void serve();
  /// Receives from this line, too, from now on.
  void add(std::shared_ptr<protocol::Line> line);
  /// Has the leader connect this one of its lines again, once it has handled what came.
  void reconnect(std::shared_ptr<protocol::Line> line);

  /// How the inbox looks to the reactor.
  struct View {
    bool ended;            ///< and will never receive again
    bool condemned;        ///< given up, which has to be carried out
    bool led;              ///< a thread receives
    bool settled;          ///< all that came has been handled: what comes next shows at the descriptor
    unsigned attendances;  ///< how often an application's thread has begun or ceased to lead
  };
  View view();
  /// Before sleeping: adds the descriptors that become readable when something has come. @returns false where
  /// there is something to receive already.
  bool rest(std::vector<int>& descriptors);

  /// Gives the connection up, which the leader, or serve(), then carries out. The first reason counts.
  /// @returns false where it has been given up before.
  bool condemn(const std::string& reason);
  /// Carries it out: what has arrived is handled, the socket closed, Handler::ended called. Returns when that
  /// is done, or at once where called from within it.
  void finish(const std::string& reason);

 private:
  /// How long a thread has been waiting, by the number of those that came before.
  using Arrival = std::uint64_t;
  /// The longest waiting of the followers; none: the largest number. Under mutex_.
  Arrival oldest() const;
  bool leading() const { return leader_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }
  void leave(bool attended);
  /// Whether there is an errand for the leader, and somebody else who can lead; `errand` gets it then.
  bool steps_down(Errand& errand);
  /// The first of the errands, which is to be run. Under mutex_.
  Errand take_errand();
  /// @param lock of mutex_
  void run_errand(std::unique_lock<std::mutex>& lock, Errand errand);
  /// Calls what is to be called after one of them, or runs one that nobody else would. The leader's.
  /// @returns whether there was any
  bool settle_errand();
  /// Settles all errands, and returns when nobody is at one.
  void settle_all();
  /// Has those that wait look again.
  void handled();
  /// Under mutex_.
  bool unsettled() const { return !errands_.empty() || !afterwards_.empty(); }
  enum class Led : std::uint8_t {
    Done,
    Ended,     ///< the end came, and done() still said no
    ForErrand  ///< there are errands for this thread
  };
  /// @param errand gets it in the last case
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
  /// Whether nothing has been left by errands; who leaves something from now on wakes the leader.
  bool may_sleep();
  void wake() const;
  void end();

  Handler& handler_;
  const int wake_fd_;

  // The leader's.
  const std::shared_ptr<protocol::Line> reports_;
  const std::shared_ptr<protocol::SharedMemory> shared_;
  protocol::Spinning spinning_;
  protocol::Vigil vigil_;  // any thread's
  protocol::BatchReader reader_;
  protocol::Incoming message_;
  std::size_t next_bulk_ = 0;
  std::vector<int> descriptors_;
  std::vector<pollfd> polled_;
  // Decoded, so that a wait() inside of a handler can go on where the handler's caller was.
  std::vector<WorkerMessage> queue_;
  std::size_t next_ = 0;
  unsigned nested_ = 0;    // wait() of handlers
  bool is_bulk_ = false;   // message_ came through a line for bulk
  bool drained_ = false;   // the socket said that there is no more
  bool poisoned_ = false;  // something came that cannot be understood
  bool ending_ = false;
  std::atomic<bool> elsewhere_{false};  // the next batch comes through the socket

  std::atomic<bool> condemned_{false};
  std::atomic<bool> some_broken_{false};
  std::atomic<bool> unsettled_{false};  // written under mutex_

  std::mutex mutex_;
  std::condition_variable turn_;
  std::atomic<std::thread::id> leader_{};  // written under mutex_
  std::vector<Arrival> followers_;
  Arrival arrivals_ = 0;
  Arrival leader_arrival_ = 0;
  std::deque<Errand> errands_;
  std::deque<std::function<void()>> afterwards_;  // of those that were run
  unsigned errands_running_ = 0;                  // of those with something to be called afterwards
  unsigned attendances_ = 0;
  std::uint64_t batches_ = 0;  // handled so far
  bool sleeping_ = false;      // the leader may be
  bool settled_ = false;       // drained_, when the last leader left
  bool ended_ = false;
  std::string reason_;
  std::vector<std::shared_ptr<protocol::Line>> bulk_;    // used by the leader; grows
  std::vector<std::shared_ptr<protocol::Line>> broken_;  // to be connected again
};

}  // namespace clique::icd
