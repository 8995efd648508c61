#pragma once

#include <chrono>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "daemon/common/log.hpp"
#include "daemon/server/child_process.hpp"
#include "daemon/server/device_filter.hpp"
#include "daemon/server/settings.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::daemon {

/// Admits sessions: answers Hello with a set of workers that it keeps ready, or with what those offer. One
/// thread.
class Server {
 public:
  /// Binds its socket. Throws zmq::error_t.
  /// @param platforms the drivers and devices to serve
  Server(Settings settings, std::vector<SelectedPlatform> platforms);

  /// Where it listens, with the port that was chosen if the settings ask for port 0.
  std::string endpoint() const { return settings_.listen.endpoint(); }

  /// Serves until a signal can be read from `signal_fd`, a signalfd. @returns its number.
  int run(int signal_fd);
  /// Takes no new sessions and lets those that run finish. Ends them after `limit`, or where there is another
  /// signal.
  void drain(int signal_fd, std::chrono::seconds limit);
  /// Ends the sessions, whose clients are told why.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  struct Worker {
    std::uint32_t driver;  ///< position in platforms_
    std::string platform;
    ChildProcess process;
    std::vector<protocol::DeviceDescription> devices;
    std::optional<WorkerReady> ready;
  };
  /// One worker for each driver, for one session.
  using Set = std::list<Worker>;
  struct Waiting {
    std::string routing_id;
    protocol::Wish wish;
    std::string client;
    Clock::time_point since;
    bool told = false;  ///< that it has to wait
  };
  /// A worker that has somebody's session, or is ending.
  struct Taken {
    std::string routing_id;  ///< of its client, while that may still be about to attach; else empty
    std::string client;
    std::uint64_t session;
    ChildProcess process;
    Clock::time_point since;
    /// When its channel was closed, which is the begin of its end; else the epoch.
    Clock::time_point closed = {};
  };

  /// Waits for something to happen, but not for longer than until `deadline`, and sees to it. @returns the
  /// number of a signal that has come instead; 0: none.
  int turn(int signal_fd, Clock::time_point deadline);
  /// From now on there are no new sessions.
  void close();
  void start_sets();
  void take_messages();
  void hello(const std::string& routing_id, protocol::Hello&& message);
  /// Ends what the client was given before.
  void forgo(const std::string& routing_id);
  void serve_waiting();
  /// Those who want to know the devices, where these are known.
  void answer_devices();
  void welcome(const Waiting& client, Set set);
  /// Why there are no new sessions.
  std::string drains() const;
  void refuse(const std::string& routing_id, const std::string& client, const std::string& reason);
  /// @returns false where the client has gone.
  template <typename M>
  bool answer(const std::string& routing_id, const M& message);
  /// Tells workers whose clients went away before they were attached.
  void look_for_hung_up();
  /// How many run: have workers that are not ending.
  std::size_t sessions() const;
  bool full() const { return settings_.sessions > 0 && sessions() >= settings_.sessions; }
  /// Looks at a worker whose channel is readable. @returns false where it cannot be used.
  bool look_at(Worker& worker);
  static bool all_ready(const Set& set);
  static bool wants_session(const Waiting& client) { return client.wish != protocol::Wish::Devices; }
  void note_devices(const Set& set);
  /// Looks at the worker of a session. @returns whether it has ended.
  static bool has_ended(Taken& taken, bool readable);
  /// Ends idle workers, without waiting for that.
  void retire(Set set);

  Settings settings_;
  const std::vector<SelectedPlatform> platforms_;
  zmq::context_t context_;
  zmq::socket_t socket_;
  protocol::BatchReader reader_;
  std::deque<Set> sets_;                   // started or ready, nobody's yet
  std::vector<protocol::Driver> drivers_;  // of the last set that was ready
  std::list<Taken> taken_;
  std::deque<Waiting> waiting_;
  std::string failure_;  // why the last set could not be started; empty if it could
  Clock::time_point failed_at_;
  Clock::time_point next_start_;
  Clock::time_point next_look_;  // for clients that have hung up
  std::uint64_t last_session_ = 0;
  bool draining_ = false;
  LogLimit strangers_;
};

}  // namespace clique::daemon
