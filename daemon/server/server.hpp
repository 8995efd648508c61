#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include "daemon/common/log.hpp"
#include "daemon/common/usage_page.hpp"
#include "daemon/metrics/metrics.hpp"
#include "daemon/server/configuration/access.hpp"
#include "daemon/server/configuration/device_filter.hpp"
#include "daemon/server/configuration/guest_memory.hpp"
#include "daemon/server/configuration/settings.hpp"
#include "daemon/server/connections/credential_desk.hpp"
#include "daemon/server/connections/dial_desk.hpp"
#include "daemon/server/connections/file_desk.hpp"
#include "daemon/server/connections/gate.hpp"
#include "daemon/server/connections/reach_desk.hpp"
#include "daemon/server/devices/gpu_monitor.hpp"
#include "daemon/server/devices/host_health.hpp"
#include "daemon/server/devices/reservations.hpp"
#include "daemon/server/devices/sharing.hpp"
#include "daemon/server/processes/child_process.hpp"
#include "daemon/server/processes/control_groups.hpp"
#include "daemon/server/processes/worker_lines.hpp"
#include "daemon/server/session_log.hpp"

namespace clique::daemon {

/// Admits sessions: answers Hello with a set of workers, which it starts in advance, with what their devices
/// are, or with the node's state; and does what administrators ask for. One thread.
class Server {
 public:
  /// Listens. Throws std::system_error, and ConfigError if the list of authorized clients cannot be read.
  /// @param identity by which clients know this node
  /// @param health what does not change of it
  Server(Settings settings, const protocol::Identity& identity, NodeDevices devices,
         protocol::NodeHealth health);

  /// Where it listens, with the port that was chosen if the settings ask for port 0.
  std::string endpoint() const { return settings_.listen.endpoint(); }

  /// Serves until a signal can be read from `signal_fd`, a signalfd. @returns the signal's number; SIGTERM if
  /// an administrator asks the node to drain
  int run(int signal_fd);
  /// Who has asked the node to drain, and why; empty: nobody but a signal.
  const std::string& drain_cause() const { return drain_cause_; }
  /// Accepts no new sessions and waits for running ones to finish, until `limit` is over or there is another
  /// SIGINT or SIGTERM.
  void drain(int signal_fd, std::chrono::seconds limit);
  /// Reads the keys of clients again.
  void reload() { access_.reload(); }
  /// Logs the state of the node, its devices and sessions, as soon as the state of GPUs is known.
  void log_state();
  /// Ends the running sessions, and tells their clients why.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  /// How long a worker whose channel is closed may take to exit; then it is killed.
  static constexpr std::chrono::seconds kEndTime{2};
  struct Worker {
    std::uint32_t driver;  ///< position in NodeDevices::served
    std::string platform;
    ChildProcess process;
    UsagePage usage;
    PacePage pace;
    Fd bell;  // see Sharing::make_bell()
    std::vector<protocol::DeviceDescription> devices;
    std::optional<WorkerReady> ready;
    std::uint64_t lines = 0;  ///< as WorkerLines::describe() names them
  };
  /// The workers of one session, one for each driver.
  using Set = std::list<Worker>;
  /// What a client has chosen, as the node counts its devices.
  struct Wanted {
    std::vector<ServedDevice> devices = {};  ///< empty: all that the client may use
    bool exclusive = false;
    std::uint64_t reservation = 0;
    protocol::Bytes memory = {};  ///< Choice::memory

    bool uses(std::uint32_t driver) const;
  };
  /// A client whose Hello has not been answered yet.
  struct Waiting {
    GuestId guest;
    Permit permit;
    Wanted wanted;
    Visitor visitor;
    protocol::Hello hello;
    std::string client;  ///< for logs
    Clock::time_point since;
    /// When a session to which another client had not attached kept it waiting for the last time; at first,
    /// `since`.
    Clock::time_point hopeful = since;
    bool told = false;  ///< it knows that it has to wait (Starting)
  };
  /// A worker that has a session, or is ending.
  struct Taken {
    GuestId guest;            ///< its client's, while that may still attach; 0 afterwards
    std::string identity;     ///< Permit::client
    std::string client;       ///< for logs
    SessionId session;        ///< 0: it never had one
    protocol::Bytes streams;  ///< WorkerAddress::streams
    ChildProcess process;
    UsagePage usage;
    Clock::time_point since;
    /// When the worker closed its channel, which it does when it ends; before, the epoch.
    Clock::time_point closed = {};
    /// When the worker is killed because it has been told to end the session; the epoch: it has not been.
    Clock::time_point kill_at = {};
    std::optional<SessionRecord> record = {};  ///< when the worker has sent it
    std::uint32_t driver = 0;                  ///< Worker::driver
    /// Places of the devices that the session is for; empty: those that it turns out to use.
    std::vector<std::uint32_t> chosen = {};
    bool exclusive = false;
    protocol::Usage counted = {};     ///< what ServerCounts::usage contains of the worker
    Measured measured = {};           ///< what ServerCounts::measured contains of it
    Sharing::Part part = {};          ///< in the sharing of its devices
    FileRoots files = {};             ///< folders whose files the session may use
    GuestMemory::Region memory = {};  ///< of a virtual machine's session
    std::uint64_t opening = 0;        ///< the number of its request at the FileDesk; 0: none is there
    DialDesk::Account dials = {};
    std::set<std::string> refused_dials = {};  ///< where it got no connection, a limited number

    /// Whether a session has the worker.
    bool in_use() const { return session != 0 && closed == Clock::time_point(); }
  };
  /// A client that waits for the node's state.
  struct Looking {
    GuestId guest;  ///< 0: the log
    Permit permit;
    Visitor visitor;
    Clock::time_point until;           ///< when it gets what is known
    std::optional<Wanted> loads = {};  ///< it wants Loads, and would use devices in this way
  };

  /// How long there is nothing to do that no descriptor tells of.
  std::chrono::milliseconds patience() const;
  /// Waits for events, until `deadline` at most. @returns the descriptors that can be read
  std::vector<int> wait(int signal_fd, Clock::time_point deadline) const;
  /// Waits for events, until `deadline` at most, and handles them.
  /// @returns the number of a signal that arrived instead; 0: none
  int turn(int signal_fd, Clock::time_point deadline);
  /// From now on refuses new sessions.
  void close();
  /// Starts as many sets of workers as are wanted.
  void start_sets();
  /// Starts the worker of a driver. Throws std::system_error.
  Worker start_worker(const SelectedPlatform& platform, std::size_t position);
  /// Notes that no workers could be started, and logs it once. Another try is made later.
  void fail_start(const std::system_error& error);
  /// Hands a connection to the worker that it is for.
  void hand_over(StreamVisit&& visit);
  /// Decides about a client, or has its credential looked at first.
  void greet(Greeting&& greeting);
  void decide(Greeting&& greeting);
  /// Answers a client that looks at the node, or steers it.
  void operate(Greeting&& greeting, Permit&& permit);
  /// Answers a client that asks for the load of devices, and reserves those that it wants.
  void reserve(Greeting&& greeting, Permit&& permit);
  /// What the client has chosen. @returns the reason why it may not
  std::variant<Wanted, std::string> wanted(const std::optional<protocol::Choice>& choice,
                                           const Permit& permit) const;
  /// The device of an Offer to this client; nothing if there was no such device.
  std::optional<ServedDevice> served(const Permit& permit, const protocol::ChosenDevice& device) const;
  /// How many sessions and reservations of others use the device.
  std::uint32_t users(ServedDevice device, const Reservations::Holder& but) const;
  /// The load of the devices that the client may use, without DeviceLoad::reserved.
  protocol::Loads loads(const Permit& permit, const Wanted& wanted) const;
  /// Why the client cannot have a session with this driver's devices as long as others have theirs; empty: it
  /// can.
  std::string hindrance(std::uint32_t driver, const Permit& permit, const Wanted& wanted) const;
  /// Whether a session has the driver's devices exclusively.
  bool taken_exclusively(std::uint32_t driver) const;
  /// Answers the clients that have asked whether this node reaches others.
  void tell_reached();
  /// Has a client wait for the node's state, or for the load of devices.
  void look(Greeting&& greeting, Permit&& permit, std::optional<Wanted> loads);
  /// Answers the clients that wait for the node's state, unless the state of GPUs is about to be known.
  void answer_looking();
  /// By which other nodes reach this one: Welcome::advertise.
  std::string advertised_to(const Visitor& visitor) const;
  protocol::Status status(const Permit& permit, const Visitor& visitor) const;
  void log_status() const;
  std::vector<protocol::DeviceStatus> devices_for(const Permit& permit) const;
  /// SessionStatus::load of all sessions whose GPUs tell.
  std::map<SessionId, std::uint64_t> session_loads() const;
  /// What the workers of the sessions that still run have counted.
  std::map<SessionId, protocol::Usage> running_usage() const;
  /// @returns why not; empty: it is done
  std::string end_session(const Greeting& greeting, const Permit& permit);
  std::string begin_drain(const Greeting& greeting, const Permit& permit);
  /// The UUIDs of the node's NVIDIA GPUs, as GpuMonitor takes them.
  std::vector<std::string> gpus() const;
  /// Answers the clients that can be answered now.
  void serve_waiting();
  /// The client that gets the next session; end() if none can have one now.
  std::deque<Waiting>::iterator next_in_turn();
  /// Refuses clients that have waited for the end of other sessions for too long.
  void refuse_overdue();
  /// Answers the clients that ask for devices, if these are known.
  void answer_devices();
  /// Takes the workers that the client may use out of a set that is ready. The others stay, and get company
  /// in place of those; otherwise the set is removed, and `set` is the next one.
  Set take_workers(std::deque<Set>::iterator& set, const Waiting& client);
  void welcome(const Waiting& client, Set set);
  /// Hands the parts of a virtual machine's memory over to a session's worker. @returns false if it is gone
  static bool give(const GuestMemory::Region& region, const ControlChannel& worker);
  /// Why a draining node refuses sessions.
  std::string drains() const;
  void refuse(GuestId guest, const std::string& client, Refusal kind, const std::string& reason);
  /// Adds to the counts what the worker has used since the last time.
  void count_usage(Taken& taken);
  /// Tells Prometheus what is, if that is wanted and due.
  void publish_metrics();
  std::vector<GpuState> gpu_states() const;
  std::vector<ClientUsage> client_usage() const;
  /// Tells waiting clients that the node still works on their wish, and workers whose clients went away
  /// before they attached.
  void look_after_guests();
  /// How many sessions have a worker that is not ending.
  /// @param identity only of this client; empty: of all
  std::size_t sessions(const std::string& identity = {}) const;
  /// How many sessions have been given to clients who may still attach to them.
  /// @param identity only to this client; empty: to all
  std::size_t unattached(const std::string& identity = {}) const;
  /// How many of them one client may have. Further ones wait.
  std::size_t most_unattached() const;
  /// Whether sessions to which other clients have not attached keep the client waiting.
  bool waits_for_unattached(const Waiting& client) const;
  bool full() const { return settings_.sessions > 0 && sessions() >= settings_.sessions; }
  /// Why the sessions of others keep the client waiting, in words; empty: they do not.
  std::string limit_of(const Waiting& client) const;
  /// The same for exclusive sessions alone: the client wants one, or others have all of its devices.
  std::string conflict_of(const Waiting& client) const;
  /// Looks at the workers without a session whose channels can be read.
  void look_at_sets(const std::function<bool(int)>& readable);
  /// Reads the channel of a worker without a session. @returns false if the worker cannot be used.
  bool look_at(Worker& worker);
  static bool all_ready(const Set& set);
  static bool wants_session(const Waiting& client) { return client.hello.wish != protocol::Wish::Devices; }
  void note_devices(const Set& set);
  /// Looks at a worker that has a session, or had one. @returns whether its process has exited.
  bool has_ended(Taken& taken, bool readable);
  /// Reads the channel of such a worker. @returns whether it has sent what it may.
  bool hear(Taken& taken);
  /// Hands the files that were opened to the workers that have asked for them.
  void hand_out_files();
  /// Hands the connections that were made to the workers that have asked for them.
  void hand_out_connections();
  /// Logs that a session does not get a connection.
  void note_refused_dial(Taken& taken, const DialDesk::Answer& answer);
  /// Ends workers without a session, without waiting for them.
  void retire(Set set);

  Settings settings_;
  const NodeDevices devices_;
  ControlGroups groups_;
  Access access_;
  GuestMemory guest_memory_;
  Gate gate_;
  Sharing sharing_;                       // before all who have a part
  std::unique_ptr<CredentialDesk> desk_;  // if the node accepts MUNGE credentials
  FileDesk file_desk_;
  DialDesk dial_desk_;
  ReachDesk reach_desk_;
  std::uint64_t last_file_ = 0;            // numbers of requests at the file desk
  std::unique_ptr<WorkerLines> lines_;     // before all whose lines it reads
  std::deque<Set> sets_;                   // starting or ready, without a session
  bool told_ucx_ = false;                  // the log says that workers cannot use UCX
  std::vector<protocol::Driver> drivers_;  // of the last set that was ready, for Offer
  std::list<Taken> taken_;
  std::deque<Waiting> waiting_;
  std::vector<Looking> looking_;
  GpuMonitor gpus_;
  HostHealth health_;
  Reservations reservations_;
  std::unique_ptr<Metrics> metrics_;  // if there are to be any
  ServerCounts counts_;
  Clock::time_point next_metrics_;
  const Clock::time_point started_ = Clock::now();
  std::string failure_;  // why the last set could not start; empty if it could
  Clock::time_point failed_at_;
  Clock::time_point next_start_;
  Clock::time_point next_look_;  // when to look after guests
  SessionLog session_log_;
  SessionId last_session_ = 0;
  bool draining_ = false;
  std::string drain_cause_;
  LogLimit strangers_;
  LogLimit refused_dials_;
};

}  // namespace clique::daemon
