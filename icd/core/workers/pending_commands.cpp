#include "icd/core/workers/pending_commands.hpp"

#include <memory>
#include <utility>

#include "icd/remote/link/errand.hpp"
#include "icd/remote/link/link.hpp"
#include "protocol/batch.hpp"
#include "protocol/decode_error.hpp"
#include "protocol/messages/objects.hpp"

namespace clique::icd {

namespace {

/// So many ended commands of traces are released at once.
constexpr std::size_t kMostForgotten = 64;

/// The reported times on this host's clock.
Event::Times local_times(const Link& link, const protocol::EventState& state) {
  Event::Times times{};
  for (std::size_t i = 0; i < times.size(); ++i)
    if (state.times[i] != 0) times[i] = state.times[i] - static_cast<std::uint64_t>(link.clock_offset());
  return times;
}

}  // namespace

bool PendingCommands::Pending::add_part(std::uint64_t offset, std::size_t size) {
  const std::size_t whole = bulk.fills.size();
  if (size > 0) return parts.add(offset, size, whole);
  // Nothing comes from here on.
  return offset > 0 && offset < whole && parts.add(offset, whole - offset, whole);
}

bool PendingCommands::add(const Ref<Event>& event) {
  const std::lock_guard lock(mutex_);
  if (!lost_) pending_[event->id()].event = event;
  return !lost_;
}

std::optional<TracedCommand> PendingCommands::add(protocol::CommandId id, TracedCommand command) {
  const std::lock_guard lock(mutex_);
  if (lost_) return command;
  traced_.try_emplace(id, std::move(command));
  return std::nullopt;
}

void PendingCommands::expect_data(protocol::CommandId command, DataSink sink) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(command);
  if (found != pending_.end()) found->second.sink = std::move(sink);
}

void PendingCommands::expect_bulk(protocol::CommandId command, Bulk bulk) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(command);
  if (found == pending_.end()) return;
  found->second.bulk = std::move(bulk);
}

void PendingCommands::set_outrun(protocol::CommandId command) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(command);
  if (found == pending_.end()) return;
  found->second.outrun = true;
  ++outrun_;
}

bool PendingCommands::only_outrun() const {
  const std::lock_guard lock(mutex_);
  return pending_.size() == outrun_;
}

std::vector<Ref<Event>> PendingCommands::events(FunctionRef<bool(const Event&)> condition) const {
  std::vector<Ref<Event>> found;
  const std::lock_guard lock(mutex_);
  for (const auto& [id, pending] : pending_)
    if (condition(*pending.event)) found.push_back(pending.event);
  return found;
}

bool PendingCommands::end_traced(Link& link, const protocol::EventState& state) {
  std::optional<TracedCommand> ended;
  std::vector<protocol::CommandId> forgotten;
  {
    const std::lock_guard lock(mutex_);
    const auto found = traced_.find(state.command);
    if (found == traced_.end() || state.status > CL_COMPLETE) return false;
    ended.emplace(std::move(found->second));
    traced_.erase(found);
    forgotten_.push_back(state.command);
    if (traced_.empty() || forgotten_.size() == kMostForgotten) forgotten.swap(forgotten_);
  }
  if (!forgotten.empty()) link.post(protocol::Release{{}, std::move(forgotten)});
  ended->ended(state.command, state.status, local_times(link, state));
  return true;
}

void PendingCommands::event_state(Link& link, const protocol::EventState& state) {
  if (trace::on() && end_traced(link, state)) return;
  Pending pending;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(state.command);
    if (found == pending_.end()) return;
    if (state.status > CL_COMPLETE) {
      pending.event = found->second.event;
    } else if (found->second.waits_for_data(state.status)) {
      found->second.reported = state;
      return;
    } else {
      pending = take(found);
    }
  }
  if (state.status > CL_COMPLETE) {
    pending.event->advance(state.status, local_times(link, state));
  } else if (state.status < 0 && pending.bulk.upload) {
    // The link may still read the application's memory for a transfer that has failed.
    const protocol::CommandId transfer = pending.bulk.transfer ? pending.bulk.transfer->id() : state.command;
    const auto last = std::make_shared<Pending>(std::move(pending));
    link.cancel_upload(transfer, [&link, last, state] { finish(link, *last, state); });
  } else {
    finish(link, pending, state);
  }
}

void PendingCommands::finish(Link& link, const Pending& pending, const protocol::EventState& state) {
  Event::Times times = local_times(link, state);
  cl_int status = state.status;
  const Bulk& bulk = pending.bulk;
  if (bulk.turn && times.back() != 0) {
    const Event::Times& turn = bulk.turn->times();
    times = {turn[0], turn[1], turn[3], times.back()};
  }
  // The second marker only fails with the status for a failed wait list.
  if (status < 0 && bulk.transfer && bulk.transfer->status() < 0) status = bulk.transfer->status();
  pending.event->end_in_order(status, times);
}

PendingCommands::Pending PendingCommands::take(Entry entry) {
  Pending pending = std::move(entry->second);
  if (pending.outrun) --outrun_;
  if (pending.missing() > 0) abandoned_.insert(entry->first);
  pending_.erase(entry);
  return pending;
}

void PendingCommands::data(const protocol::Data& data) {
  DataSink sink;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(data.command);
    if (found == pending_.end() || !found->second.sink) return;
    // A copy, since other threads may add commands meanwhile. Only this one removes them.
    sink = found->second.sink;
  }
  sink(data.part, data.data.bytes);
}

std::optional<PendingCommands::Target> PendingCommands::note_part(const protocol::PeerData& part,
                                                                  bool in_place) {
  const std::size_t size = part.data.bytes.size();
  const auto found = pending_.find(part.transfer);
  // Parts of a failed transfer may arrive after its event has ended.
  if (found == pending_.end() && abandoned_.contains(part.transfer)) return std::nullopt;
  // If the client ignored any other unexpected part, the read might never complete.
  if (found == pending_.end() || part.status > 0 || !found->second.add_part(part.offset, size))
    throw protocol::DecodeError("a part of " + std::to_string(size) + " bytes at " +
                                std::to_string(part.offset) + " of transfer " +
                                std::to_string(part.transfer) + ", which does not expect this part");
  // The owner of a payload that is in place already counts as a copy, too.
  if (!in_place) ++found->second.copying;
  return Target{found->second.bulk.fills.subspan(part.offset, size), found->second.bulk.range};
}

void PendingCommands::Target::copy_from(std::span<const std::byte> data, Through through) const {
  if (range)
    range->fill(to.data(), data, through);
  else
    copy(to.data(), data.data(), to.size(), through);
}

void PendingCommands::pushed(Link& link, protocol::PeerData&& part) {
  // A failed transfer is reported through its event.
  if (part.status < 0) return;
  std::optional<Target> target;
  {
    const std::lock_guard lock(mutex_);
    target = note_part(part, false);
  }
  if (!target) return;
  const Through through = link.shares_memory() ? Through::Memory : Through::Network;
  link.run({[target = std::move(*target), through, data = std::move(part.data)]() mutable {
              target.copy_from(data.bytes, through);
              data = {};
            },
            [this, &link, transfer = part.transfer] { copied(link, transfer); }});
}

std::shared_ptr<std::byte> PendingCommands::place(Link& link, protocol::CommandId transfer,
                                                  std::uint64_t offset, std::size_t size) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(transfer);
  if (found == pending_.end() || found->second.bulk.range) return nullptr;
  const std::span<std::byte> fills = found->second.bulk.fills;
  if (size > fills.size() || offset > fills.size() - size) return nullptr;
  ++found->second.copying;
  return {fills.data() + offset, [this, &link, transfer](std::byte*) {
            link.on_receiver([this, &link, transfer] { copied(link, transfer); });
          }};
}

void PendingCommands::arrived(Link& link, protocol::PeerData&& part) {
  if (part.status < 0) return;
  const bool in_place = part.data.owner != nullptr;
  std::optional<Target> target;
  {
    const std::lock_guard lock(mutex_);
    target = note_part(part, in_place);
  }
  if (!target || in_place) return;
  if (!part.data.bytes.empty()) target->copy_from(part.data.bytes, Through::Stream);
  link.on_receiver([this, &link, transfer = part.transfer] { copied(link, transfer); });
}

void PendingCommands::copied(Link& link, protocol::CommandId transfer) {
  Pending pending;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(transfer);
    if (found == pending_.end()) return;
    Pending& whole = found->second;
    --whole.copying;
    if (!whole.reported || whole.waits_for_data(whole.reported->status)) return;
    pending = take(found);
  }
  const protocol::EventState state = *pending.reported;
  finish(link, pending, state);
}

void PendingCommands::lose() {
  std::unordered_map<protocol::CommandId, Pending> pending;
  std::vector<std::pair<protocol::CommandId, TracedCommand>> traced;
  {
    const std::lock_guard lock(mutex_);
    lost_ = true;
    pending.swap(pending_);
    for (auto& [id, command] : traced_) traced.emplace_back(id, std::move(command));
    traced_.clear();
    outrun_ = 0;
  }
  for (const auto& [id, command] : traced) command.ended(id, CL_DEVICE_NOT_AVAILABLE, {});
  for (auto& [id, entry] : pending) {
    if (entry.bulk.range) entry.bulk.range->close();
    entry.event->settle(CL_DEVICE_NOT_AVAILABLE);
  }
}

}  // namespace clique::icd
