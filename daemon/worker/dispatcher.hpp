#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "daemon/worker/connections/traffic.hpp"
#include "daemon/worker/recordings.hpp"
#include "daemon/worker/reports/remote_events.hpp"
#include "daemon/worker/transfers/transfers.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "protocol/spin.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::daemon {

class Files;
class Segments;

/// Batches of one source that are handled before the other sources get their turn.
inline constexpr int kBatchesPerTurn = 64;

/// Why a session is over. Thrown through the session's loop.
struct SessionOver {
  std::string reason;  ///< empty when the client ended it with Goodbye
};

/// Decodes the messages of a session and brings each to its handler: the backend, or the part of the worker
/// that it is for. Main thread. Everything throws DecodeError, RuleBroken, DeviceFailed and SessionOver.
class Dispatcher {
 public:
  enum class Sender : bool { Client, Peer };

  Dispatcher(const Surroundings& surroundings, Backend& backend, Segments& segments, Files& files);

  /// Handles a batch of the client's commands, or begins to: a kernel may have to wait for its turn on the
  /// device, and what follows it waits, too. Not while paused().
  void handle_commands(protocol::Incoming&& incoming);
  /// Has the end of these commands noticed (Backend::flush()). The session does so, too, before it rests.
  void flush() { backend_.flush(); }
  /// Whether a batch of commands has been begun and not ended.
  bool paused() const { return paused_; }
  /// Goes on with that batch, if it may go on. @returns whether anything was handled
  bool go_on();
  /// Handles a batch of another worker.
  void handle_peer(const protocol::Incoming& incoming);
  /// Keeps a batch with payloads for handle_part().
  void queue_part(protocol::Incoming&& incoming, Sender sender) {
    parts_.push_back({std::move(incoming), sender});
  }
  /// The same for a part that has come through a stream.
  void queue_part(protocol::PeerData&& part, Sender sender) { parts_.push_back({std::move(part), sender}); }
  /// Handles one of the queued batches and parts: they are handled one at a time, so that small commands wait
  /// for one of them at most. @returns whether there was any.
  bool handle_part();

  /// The shortest time in which the client answered an answer to its SyncClock with another SyncClock; 0:
  /// unknown.
  std::chrono::nanoseconds round_trip() const { return round_trip_; }
  /// See Transfers::awaits_little().
  bool awaits_parts() const { return transfers_.awaits_little(); }
  /// Whether the transfers between the device and memory shared with the client should have completed.
  bool transfers_over(protocol::Vigil::Clock::time_point now) const { return vigil_.over(now); }

  /// What the session has asked for: runs of kernels, bytes of segments (protocol/README.md), and bytes in
  /// other workers' windows.
  struct Counts {
    Counter kernels;
    Counter from_segments;
    Counter to_segments;
    Counter from_windows;
  };
  const Counts& counts() const { return counts_; }

 private:
  /// Overloads for the messages that are not the backend's alone.
  struct Handler;
  struct Part {
    std::variant<protocol::Incoming, protocol::PeerData> content;
    Sender sender;
  };

  /// Reads `commands_` to its end, or to a kernel that has to wait.
  void read_commands();
  template <typename List>
  void handle(List list, const protocol::Incoming& incoming, Sender sender);

  const Surroundings surroundings_;
  Backend& backend_;
  Segments& segments_;
  Files& files_;
  protocol::BatchReader reader_;
  protocol::BatchReader command_reader_;
  protocol::Incoming commands_;  // what command_reader_ reads
  bool paused_ = false;
  Transfers transfers_;
  Recordings recordings_;
  RemoteEvents remote_events_;
  std::deque<Part> parts_;
  std::map<protocol::ObjectId, WaitingData::Share> programs_;  // their sources and binaries
  Counts counts_;
  std::vector<protocol::Payload> withheld_;  // consents to windows that the backend cannot open
  protocol::Vigil vigil_;
  std::chrono::nanoseconds round_trip_{0};
  std::chrono::steady_clock::time_point clock_told_;
};

}  // namespace clique::daemon
