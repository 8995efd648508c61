#pragma once

#include <chrono>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "daemon/config.hpp"
#include "daemon/device_filter.hpp"
#include "daemon/log.hpp"
#include "daemon/process.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::daemon {

/// Admits sessions: answers Hello with a set of workers that it keeps ready. One thread.
class Server {
 public:
  struct Options {
    ListenAddress listen;
    std::string advertise;
    std::string node;
    PortRange worker_ports;
    std::chrono::seconds kernel_timeout{0};  ///< 0: none
    std::vector<SelectedPlatform> platforms;
  };

  /// Binds. Throws zmq::error_t.
  explicit Server(Options options);

  /// Where it listens, with the port that was chosen where 0 was asked for.
  const ListenAddress& listen() const { return options_.listen; }

  /// Serves until `signal_fd` is readable. Sessions end with it.
  void run(int signal_fd);

 private:
  struct Worker {
    std::string platform;
    ChildProcess process;
    std::optional<WorkerReady> ready;
  };
  /// One worker for each driver, for one session.
  using Set = std::list<Worker>;
  struct Waiting {
    std::string routing_id;
    std::string client;
    bool told = false;  ///< that it has to wait
  };
  struct Taken {
    std::string client;
    ChildProcess process;
    /// When its channel was closed, which is the begin of its end; else the epoch.
    std::chrono::steady_clock::time_point closed = {};
  };

  void start_sets();
  void take_messages();
  void hello(const std::string& routing_id, protocol::Hello&& message);
  void serve_waiting();
  void welcome(const Waiting& client, Set set);
  void refuse(const std::string& routing_id, const std::string& client, const std::string& reason);
  template <typename M>
  void answer(const std::string& routing_id, const M& message);
  /// Looks at a worker whose channel is readable. @returns false where it cannot be used.
  bool look_at(Worker& worker);
  static bool all_ready(const Set& set);
  /// Looks at the worker of a session. @returns whether it has ended.
  static bool has_ended(Taken& taken, bool readable);

  Options options_;
  zmq::context_t context_;
  zmq::socket_t socket_;
  protocol::BatchReader reader_;
  std::deque<Set> sets_;  // started or ready, nobody's yet
  std::list<Taken> taken_;
  std::deque<Waiting> waiting_;
  std::string failure_;  // why the last set could not be started; empty if it could
  std::chrono::steady_clock::time_point next_start_;
  LogLimit strangers_;
};

}  // namespace clique::daemon
