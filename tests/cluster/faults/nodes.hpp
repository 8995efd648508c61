// Daemons on this host's loopback address, and OpenCL over them. The platform opens once per process, so that
// each test which uses it must be a process of its own.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "api/fixture.hpp"
#include "cluster/faults/process.hpp"
#include "node_programs.hpp"

namespace clique::test {

/// Time limit for noticing a loss: heartbeats are given up after 5 seconds, and tests share the processor.
inline constexpr std::chrono::milliseconds kLossLimit{6000};

/// The path of cliqued: CLIQUE_DAEMON, which CTest sets.
std::string daemon_path();

/// A running cliqued that offers the first device of this host. Its sessions begin with the programs of
/// earlier nodes (NodePrograms).
class Node {
 public:
  /// @param drain_timeout seconds that sessions get when the daemon is told to end. The test's own sessions
  /// are still open then.
  explicit Node(const std::string& name, int drain_timeout = 0);

  /// The address as in CLIQUE_NODES.
  const std::string& address() const { return address_; }
  int port() const;
  Child& daemon() { return daemon_; }
  std::string log() const { return daemon_.output(); }
  /// The worker of the session with a client process, by default this one. Fails the test if there is none.
  pid_t worker(pid_t client = 0) const;
  /// Whether the node has an open session with that client.
  bool serves(pid_t client) const { return find_worker(client) > 0; }

 private:
  pid_t find_worker(pid_t client) const;

  NodePrograms programs_;
  Child daemon_;
  std::string address_;
};

/// Sets CLIQUE_NODES. Call it before the first OpenCL call.
void use_nodes(const std::vector<std::string>& addresses);

/// The text that is written to standard error during a call.
std::string stderr_of(const std::function<void()>& call);

/// A context over the first devices of two nodes, "alpha" and "beta", with a queue on each.
class TwoNodes : public ApiTest {
 protected:
  void SetUp() override;

  /// Computes out[i] = i * factor + in[i] on a queue, with data from and to the host. Fails the test if the
  /// result is wrong.
  void expect_works(cl_command_queue on, cl_uint factor);
  /// Enqueues a kernel that runs for much longer than the test, and waits until it runs.
  Event start_endless(cl_command_queue on);
  /// A kernel of sources() with `mems` as its arguments.
  Kernel with_args(const char* name, const std::vector<cl_mem>& mems);
  static cl_int enqueue(cl_command_queue on, cl_kernel kernel, size_t size,
                        const std::vector<cl_event>& waits = {}, cl_event* event = nullptr);
  static cl_int status_of(cl_event event) {
    return info<cl_int>(clGetEventInfo, event, CL_EVENT_COMMAND_EXECUTION_STATUS);
  }

  int drain_timeout = 0;                 // seconds, of node 0
  std::function<void()> before_opening;  // called, if set, when the nodes run and before the platform opens
  std::vector<Node> nodes;
  std::vector<Queue> queues;  // one per node
  Program program;
};

/// Measures the time since its construction.
class Stopwatch {
 public:
  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start_);
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Ends this process with a failure if a call does not return in time. This does not affect other tests.
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

/// The call's result. Ends the process if the call does not return in time.
template <typename Call>
auto within(std::chrono::milliseconds limit, const char* what, Call&& call) {
  const Watchdog watchdog(what, limit);
  return call();
}
#define WITHIN(limit, call) ::clique::test::within(limit, #call, [&] { return (call); })

}  // namespace clique::test
