#include "icd/remote/transfers/bulk_lines.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "icd/remote/link/inbox.hpp"
#include "icd/remote/link/link_control.hpp"
#include "icd/remote/worker_endpoint.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::icd {

using Direction = protocol::ZmqLine::Direction;

void BulkLines::configure(bool resumable, bool long_way) {
  const std::lock_guard lock(mutex_);
  resumable_ = resumable;
  long_way_ = long_way;
}

std::size_t BulkLines::extend(std::vector<TendedLine>& lines, Direction direction) {
  const std::size_t before = lines.size();
  const auto answered = [&] {
    return before > 0 && lines.back().line->round_trip() > std::chrono::nanoseconds(0);
  };
  while (protocol::worth_another_connection(lines.size(), answered(), long_way_)) {
    auto line = std::make_shared<protocol::ZmqLine>(zmq_.get(), worker_.commands, worker_.client, next_id_++,
                                                    direction);
    line->set_resumable(resumable_);
    lines.push_back({std::move(line)});
  }
  if (lines.size() != before) control_.stir();
  return before;
}

void BulkLines::open_incoming() {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  try {
    for (std::size_t i = extend(incoming_, Direction::Inward); i < incoming_.size(); ++i)
      inbox_.add(incoming_[i].line);
  } catch (const zmq::error_t& error) {
    control_.give_up(std::string("a connection for large transfers could not be opened: ") + error.what());
  }
}

void BulkLines::open_more_incoming() {
  {
    const std::lock_guard lock(mutex_);
    if (incoming_.empty()) return;
  }
  open_incoming();
}

void BulkLines::send(protocol::PeerData&& part) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  try {
    extend(outgoing_, Direction::Outward);
    protocol::Batch batch;
    part.data.owner = loans_.lend(std::move(part.data.owner));
    batch.add(part);
    outgoing_[next_outgoing_++ % outgoing_.size()].line->send(batch);
  } catch (const std::exception& error) {
    control_.give_up(std::string("sending a part of a large transfer failed: ") + error.what());
  }
}

void BulkLines::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (const TendedLine& tended : outgoing_) tended.line->close(0);
  }
  loans_.await_return();
}

void BulkLines::for_each(FunctionRef<void(TendedLine&, Direction)> function) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  for (TendedLine& tended : incoming_) function(tended, Direction::Inward);
  for (TendedLine& tended : outgoing_) function(tended, Direction::Outward);
}

}  // namespace clique::icd
