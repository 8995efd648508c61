// The connections for large transfers.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "icd/common/function_ref.hpp"
#include "icd/remote/link/loans.hpp"
#include "icd/remote/link/tended_line.hpp"
#include "icd/remote/transfers/uploads.hpp"
#include "protocol/ids.hpp"
#include "protocol/transport/zmq_context.hpp"
#include "protocol/transport/zmq_line.hpp"

namespace clique::icd {

class Inbox;
class LinkControl;
struct WorkerEndpoint;

/// The lines for large transfers between this process and one worker, beside those for commands and reports.
/// They are opened when they are first needed, several in each direction. A link that shares memory with its
/// worker has none. Thread-safe.
class BulkLines final : public Uploads::Way {
 public:
  /// @param inbox receives from the incoming lines
  BulkLines(protocol::ZmqContext& zmq, const WorkerEndpoint& worker, Inbox& inbox, LinkControl& control)
      : zmq_(zmq), worker_(worker), inbox_(inbox), control_(control) {}

  /// Sets the properties of lines that are opened from now on.
  /// @param resumable they outlive their connections
  /// @param long_way the link has a high latency, so that more lines are needed to use its bandwidth
  void configure(bool resumable, bool long_way);
  /// Opens the incoming lines, as far as there should be more than there are.
  void open_incoming();
  /// open_incoming(), if there are incoming lines already: later ones are opened when earlier ones are in
  /// use.
  void open_more_incoming();
  /// Sends a part through one of the outgoing lines, which are opened if need be. Never waits.
  void send(protocol::PeerData&& part) override;
  /// Closes the outgoing lines and opens none from now on. The inbox closes the incoming ones. Returns when
  /// ZeroMQ has released all payloads.
  void close();

  /// Calls function(line, direction) for every line, under a lock; for none after close().
  void for_each(FunctionRef<void(TendedLine&, protocol::ZmqLine::Direction)> function);

 private:
  /// Opens lines in one direction, as far as there should be more. Under mutex_.
  /// @returns the number of lines that existed before.
  std::size_t extend(std::vector<TendedLine>& lines, protocol::ZmqLine::Direction direction);

  protocol::ZmqContext& zmq_;
  const WorkerEndpoint& worker_;
  Inbox& inbox_;
  LinkControl& control_;

  std::mutex mutex_;  // guards the members below
  std::vector<TendedLine> outgoing_;
  std::vector<TendedLine> incoming_;
  std::size_t next_outgoing_ = 0;
  protocol::LineId next_id_ = protocol::kFirstBulkLine;
  bool resumable_ = false;
  bool long_way_ = false;
  bool closed_ = false;
  Loans loans_;
};

}  // namespace clique::icd
