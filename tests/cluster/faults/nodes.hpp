// Daemons on this host's loopback address, and OpenCL over them. The platform opens once per process, so each
// test that uses it has to be a process of its own.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "api/fixture.hpp"
#include "cluster/faults/process.hpp"

namespace clique::test {

/// Noticing a loss may take so long: heartbeats are given up after 5 seconds, and tests share the processor.
inline constexpr std::chrono::milliseconds kLossLimit{6000};

/// cliqued: CLIQUE_DAEMON, set by CTest.
std::string daemon_path();

/// A running cliqued, with the first device of the node.
class Node {
 public:
  /// @param drain_timeout seconds that sessions have when it is told to end; tests' own are open then.
  explicit Node(const std::string& name, int drain_timeout = 0);

  /// As in CLIQUE_NODES.
  const std::string& address() const { return address_; }
  int port() const;
  Child& daemon() { return daemon_; }
  std::string log() const { return daemon_.output(); }
  /// The worker of the session with a client process; this one by default. Fails the test where it has none.
  pid_t worker(pid_t client = 0) const;
  /// Whether a session with that client is open.
  bool serves(pid_t client) const { return find_worker(client) > 0; }

 private:
  pid_t find_worker(pid_t client) const;

  Child daemon_;
  std::string address_;
};

/// Sets CLIQUE_NODES. To be called before the first OpenCL call.
void use_nodes(const std::vector<std::string>& addresses);

/// What went to standard error during a call.
std::string stderr_of(const std::function<void()>& call);

/// A context over the first devices of two nodes, "alpha" and "beta", with a queue on each.
class TwoNodes : public ApiTest {
 protected:
  void SetUp() override;

  /// out[i] = i * factor + in[i], on a queue; the data comes from and goes to the host. Fails the test where
  /// that goes wrong.
  void expect_works(cl_command_queue on, cl_uint factor);
  /// Enqueues a kernel that runs for much longer than the test, and waits until it runs.
  Event start_endless(cl_command_queue on);
  /// A kernel of sources() with `mem` as its arguments.
  Kernel with_args(const char* name, const std::vector<cl_mem>& mems);
  static cl_int enqueue(cl_command_queue on, cl_kernel kernel, size_t size,
                        const std::vector<cl_event>& waits = {}, cl_event* event = nullptr);
  static cl_int status_of(cl_event event) {
    return info<cl_int>(clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS);
  }

  int drain_timeout = 0;                 // of node 0
  std::function<void()> before_opening;  // called, if set, when the nodes run
  std::vector<Node> nodes;
  std::vector<Queue> queues;  // one per node
  Program program;
};

/// The time since it was made.
class Stopwatch {
 public:
  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Ends this process, as failed, where a call does not return in time. No other test is concerned.
class Watchdog {
 public:
  Watchdog(const char* what, std::chrono::milliseconds limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// The call's result, which has to come in time.
template <typename Call>
auto within(std::chrono::milliseconds limit, const char* what, Call&& call) {
  const Watchdog watchdog(what, limit);
  return call();
}
#define WITHIN(limit, call) ::clique::test::within(limit, #call, [&] { return (call); })

}  // namespace clique::test
