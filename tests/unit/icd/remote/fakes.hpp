// Workers and daemons for tests of the client.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "icd/remote/link/errand.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/link/reports.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "protocol/security/tls.hpp"
#include "protocol/transport/zmq_context.hpp"

namespace clique::icd::test {

/// A worker without devices. Its functions may be set before a client attaches. They run on the worker's
/// thread and may call reply().
class FakeWorker {
 public:
  explicit FakeWorker(std::int64_t clock_ahead = 0);
  ~FakeWorker();

  /// Default of this and the next: answers at once.
  std::function<void(const protocol::SyncClock&)> on_clock;
  std::function<void(const protocol::Finish&)> on_finish;
  /// Default of this and the following: nothing.
  std::function<void(const protocol::Marker&)> on_marker;
  std::function<void(const protocol::WriteBuffer&)> on_write;
  std::function<void(const protocol::ReadBuffer&)> on_read;
  std::function<void(const protocol::CreateBuffer&)> on_create_buffer;
  std::function<void(const protocol::CreateProgram&)> on_create_program;
  std::function<void(const protocol::BuildProgram&)> on_build;
  std::function<void(const protocol::CreateKernel&)> on_create_kernel;
  std::function<void(const protocol::RunKernel&)> on_run;
  std::function<void(const protocol::Release&)> on_release;
  std::function<void()> on_goodbye;

  /// Sends a message to the client. For the worker's thread.
  template <typename M>
  void reply(const M& message) {
    batch_.add(message);
    send();
  }
  /// Sends several messages in one batch.
  void reply(protocol::Batch& batch);
  /// Sends a batch whose records are these bytes.
  void reply_raw(const std::string& records);

  /// Runs task() on the worker's thread, and waits for it.
  void run(std::function<void()> task);
  /// Closes both sockets. Any thread.
  void hang_up();

  std::uint16_t commands_port() const { return commands_port_; }
  std::uint16_t reports_port() const { return reports_port_; }
  WorkerEndpoint endpoint() const;

 private:
  template <typename M>
  void take(M&& message);
  void serve();
  void receive(zmq::socket_t& socket, bool commands);
  void send();

  const std::int64_t clock_ahead_;
  zmq::context_t zmq_{1};
  zmq::socket_t commands_;
  zmq::socket_t reports_;
  std::uint16_t commands_port_ = 0;
  std::uint16_t reports_port_ = 0;
  bool commands_attached_ = false;
  std::string client_;  // its routing id at reports_
  protocol::Batch batch_;
  protocol::BatchReader reader_;

  int wake_fd_;
  std::mutex mutex_;
  std::vector<std::function<void()>> tasks_;
  bool stop_ = false;
  std::atomic<std::thread::id> serving_{};
  std::thread thread_;
};

/// Records what a link reports.
class Recorder : public Reports {
 public:
  void event_state(protocol::EventState&& state) override {
    states.fetch_add(1);
    last_state.store(state.command);
    if (on_state) on_state(state);
  }
  void data(protocol::Data&& /*data*/) override {}
  void pushed(protocol::PeerData&& part) override {
    if (on_pushed) on_pushed(part);
  }
  std::shared_ptr<std::byte> place(protocol::CommandId /*transfer*/, std::uint64_t /*offset*/,
                                   std::size_t /*size*/) override {
    return nullptr;
  }
  void arrived(protocol::PeerData&& part) override {
    if (on_pushed) on_pushed(part);
  }
  void print(protocol::Print&& /*text*/) override {}
  void failed(protocol::Failed&& /*failure*/) override {}
  void out_of_reach(protocol::PeerId /*peer*/, const std::string& /*why*/) override {}
  void unreachable(const protocol::PeerLost& /*loss*/) override {}
  void lost(const std::string& why) override {
    {
      std::lock_guard lock(mutex);
      reason = why;
    }
    if (on_lost) on_lost();
    losses.fetch_add(1);
  }
  std::string why() {
    std::lock_guard lock(mutex);
    return reason;
  }

  std::function<void(const protocol::EventState&)> on_state;
  std::function<void(const protocol::PeerData&)> on_pushed;
  std::function<void()> on_lost;
  std::atomic<int> states{0};
  std::atomic<std::uint64_t> last_state{0};
  std::atomic<int> losses{0};

 private:
  std::mutex mutex;
  std::string reason;
};

/// Forwards TCP connections, until it is told to stop.
class Proxy {
 public:
  explicit Proxy(std::uint16_t target);
  ~Proxy();
  std::uint16_t port() const { return port_; }
  /// From now on, forwards nothing and closes nothing.
  void freeze() { frozen_.store(true); }
  /// Closes the next connection on which bytes arrive.
  void cut_next() { cut_next_.store(true); }

 private:
  void serve();

  std::uint16_t target_;
  std::uint16_t port_ = 0;
  int listener_;
  std::map<int, int> partners_;
  std::atomic<bool> frozen_{false};
  std::atomic<bool> cut_next_{false};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// A daemon that answers every Hello with the messages that `answer` adds to the batch.
class FakeDaemon {
 public:
  using Answer = std::function<void(const protocol::Hello&, protocol::Batch&)>;

  /// @param then adds messages to a second batch, which is sent after the answer
  explicit FakeDaemon(Answer answer, Answer then = {});
  /// Answers requests for devices with `offer`, and others with what `answer` adds.
  FakeDaemon(protocol::Offer offer, Answer answer);
  ~FakeDaemon();
  std::uint16_t port() const { return port_; }

 private:
  void serve(const std::vector<Answer>& answers);
  static void answer(protocol::TlsChannel& channel, const std::shared_ptr<const std::string>& records,
                     const std::vector<Answer>& answers);

  protocol::TlsContext tls_;
  Fd listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// How long a test waits for what has to happen. Only a test that fails takes that long.
inline constexpr std::chrono::seconds kPatience{60};

/// Waits up to `timeout` until a condition holds that another thread brings about.
template <typename F>
bool eventually(F&& condition, std::chrono::milliseconds timeout = kPatience) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

/// A link and its worker. The order of the members is that of their construction.
struct Connection {
  explicit Connection(std::int64_t clock_ahead = 0) : worker(clock_ahead) {}
  void open() {
    worker.run([] {});  // so that its thread sees the functions that were set
    link = std::make_unique<Link>(zmq, worker.endpoint(), kPatience);
    link->start(recorder);
  }
  protocol::ZmqContext zmq{1};
  FakeWorker worker;
  Recorder recorder;
  std::unique_ptr<Link> link;
};

}  // namespace clique::icd::test
