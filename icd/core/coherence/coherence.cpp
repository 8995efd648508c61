#include "icd/core/coherence/coherence.hpp"

#include <algorithm>
#include <optional>

#include "icd/core/commands/queue.hpp"
#include "icd/core/division/launch_group.hpp"
#include "icd/core/events/event.hpp"
#include "icd/core/objects/context.hpp"
#include "icd/core/objects/image.hpp"
#include "icd/core/objects/platform.hpp"
#include "icd/core/tracing/note.hpp"
#include "icd/core/transfers/post.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/trace/trace.hpp"
#include "protocol/batch.hpp"
#include "protocol/limits.hpp"
#include "protocol/messages.hpp"
#include "protocol/messages/transfers.hpp"

namespace clique::icd {

namespace {

/// Measures a transfer that is about to be posted, and which nothing delays.
void measure(MovementMeter& meter, Event& arrival, std::uint64_t size) {
  meter.began(MovementMeter::Clock::now());
  // The meter is a part of the event's context.
  arrival.then([&meter, size](cl_int status) {
    meter.ended(MovementMeter::Clock::now(), status == CL_COMPLETE ? size : 0);
  });
}

/// Whether the transfer that was to bring the copy has failed.
bool broken(const RangeMap<Ref<Event>>::Copy& copy) {
  return std::any_of(copy.ready.begin(), copy.ready.end(), [](const Ref<Event>& ready) {
    return ready && ready->is_internal() && ready->status() < 0;
  });
}

/// Whether condition(status) holds for all commands that wrote the copies.
template <typename Condition>
bool all_writers(const std::vector<RangeMap<Ref<Event>>::Copy>& copies, Condition&& condition) {
  for (const auto& copy : copies)
    for (const Ref<Event>& ready : copy.ready)
      if (!ready || ready->is_internal() || !condition(ready->status())) return false;
  return true;
}

/// Takes back transfers and writes that have failed, and drops older versions to which nothing can go back
/// any more.
void revert_failures(RangeMap<Ref<Event>>::Piece& piece) {
  std::erase_if(piece.copies, broken);
  while (piece.before && all_writers(piece.copies, [](cl_int status) { return status < 0; })) {
    piece.copies = piece.before->copies;
    piece.before = std::shared_ptr(piece.before->before);
    std::erase_if(piece.copies, broken);
  }
  const auto complete = [](cl_int status) { return status == CL_COMPLETE; };
  if (piece.before && all_writers(piece.copies, complete)) piece.before.reset();
  for (auto* version = piece.before.get(); version != nullptr; version = version->before.get())
    if (all_writers(version->copies, complete)) version->before.reset();
}

bool host_holds(const std::vector<RangeMap<Ref<Event>>::Copy>& copies) {
  return std::any_of(copies.begin(), copies.end(), [](const auto& copy) { return copy.holder == kHost; });
}

std::vector<protocol::CommandId> ids_of_pending(std::span<const Ref<Event>> events) {
  std::vector<protocol::CommandId> ids;
  for (const Ref<Event>& event : events)
    if (event && !event->ended()) ids.push_back(event->id());
  return ids;
}

}  // namespace

Coherence::Coherence(Memory& object)
    : object_(object), arrivals_([](const Ref<Event>& event) { return event->ended(); }) {}

Coherence::~Coherence() = default;

void Coherence::set_host_content(const std::byte* data, std::shared_ptr<const void> owner) {
  host_data_ = data;
  host_owner_ = std::move(owner);
  map_.write(0, object_.size(), kHost, {}, [](const Ref<Event>&) { return true; });
}

bool Coherence::trivial() const {
  return host_data_ == nullptr && object_.context()->workers().size() == 1 && arrivals_.all_ended();
}

// The application does not know the arrivals, so a command that uses the content has to wait for them here:
// for those that are still under way, too, if another command has written the content since. That one waits
// for them, but an out-of-order queue, or another queue, may run this one first.
void Coherence::wait_for_arrivals(const Worker& worker, RangeMap<Ref<Event>>::Piece& piece,
                                  std::vector<Ref<Event>>& waits) const {
  const auto add = [&waits](const Ref<Event>& event) {
    if (std::find(waits.begin(), waits.end(), event) == waits.end()) waits.push_back(event);
  };
  bool written_since = false;
  for (const Ref<Event>& ready : piece.copy_of(worker.index())->ready) {
    if (!ready || ready->ended()) continue;
    if (ready->is_internal())
      add(ready);
    else
      written_since = true;
  }
  if (!written_since) return;
  for (const Ref<Event>& arrival : arrivals_.under_way(worker.index(), piece.begin, piece.end)) add(arrival);
}

void Coherence::before_read(Worker& worker, std::uint64_t begin, std::uint64_t end,
                            std::vector<Ref<Event>>& waits, const Need& need) {
  if (trivial()) return;
  std::vector<Fetch> fetches;
  std::optional<Arrivals<Ref<Event>>::Traffic> traffic;
  map_.visit(begin, end, [&](RangeMap<Ref<Event>>::Piece& piece) {
    revert_failures(piece);
    if (piece.copy_of(worker.index()) != nullptr) {
      wait_for_arrivals(worker, piece, waits);
      return;
    }
    if (!traffic) traffic = arrivals_.traffic(begin, end);
    const auto& copy = source(piece, *traffic);
    std::vector<Ref<Event>> ready = ready_of(copy);
    if (!fetches.empty() && fetches.back().end == piece.begin && fetches.back().source == copy.holder &&
        fetches.back().ready == ready) {
      fetches.back().end = piece.end;
    } else {
      fetches.push_back({piece.begin, piece.end, copy.holder, std::move(ready), traffic->round(copy.holder)});
    }
  });
  for (const Fetch& fetch : fetches) {
    const Ref<Event> arrival =
        fetch.source == kHost ? upload(worker, fetch.begin, fetch.end, need) : pull(worker, fetch, need);
    arrivals_.add(fetch.source, worker.index(), fetch.begin, fetch.end, arrival, fetch.round);
    map_.add_copy(fetch.begin, fetch.end, worker.index(), arrival);
    waits.push_back(arrival);
    if (fetch.source == kHost) forget_host(fetch.begin, fetch.end);
  }
}

const RangeMap<Ref<Event>>::Copy& Coherence::source(const RangeMap<Ref<Event>>::Piece& piece,
                                                    const Arrivals<Ref<Event>>::Traffic& traffic) {
  const auto& workers = Platform::instance().workers();
  const auto* found = traffic.soonest(
      piece.copies, [&](Holder holder) { return holder == kHost || !workers[holder]->link().lost(); });
  require(found != nullptr, CL_OUT_OF_RESOURCES,
          "the content of a memory object was lost with the only node that had it");
  return *found;
}

std::vector<Ref<Event>> Coherence::ready_of(const RangeMap<Ref<Event>>::Copy& copy) const {
  std::vector<Ref<Event>> ready = copy.ready;
  const bool without_event =
      std::any_of(ready.begin(), ready.end(), [](const Ref<Event>& event) { return !event; });
  if (copy.holder == kHost || !without_event) return ready;
  for (Ref<Event>& end : object_.context()->ends_of_writes(*Platform::instance().workers()[copy.holder]))
    ready.push_back(std::move(end));
  return ready;
}

std::vector<Coherence::Part> Coherence::parts(Worker& worker, std::uint64_t begin, std::uint64_t end) {
  std::vector<Part> parts;
  const auto add = [&](std::uint64_t to, Worker& holder, const std::vector<Ref<Event>>& ready) {
    if (to <= begin) return;
    if (parts.empty() || parts.back().holder != &holder) parts.push_back({begin, begin, &holder, {}});
    Part& last = parts.back();
    last.end = begin = to;
    for (const Ref<Event>& event : ready)
      if (std::find(last.ready.begin(), last.ready.end(), event) == last.ready.end())
        last.ready.push_back(event);
  };
  const auto traffic = arrivals_.traffic(begin, end);
  map_.visit(begin, end, [&](RangeMap<Ref<Event>>::Piece& piece) {
    revert_failures(piece);
    add(piece.begin, worker, {});
    const auto* own = piece.copy_of(worker.index());
    const auto& copy = own != nullptr ? *own : source(piece, traffic);
    // Content on the host goes to the worker first, as for any other command.
    add(piece.end, copy.holder == kHost ? worker : *Platform::instance().workers()[copy.holder],
        ready_of(copy));
  });
  add(end, worker, {});
  return parts;
}

void Coherence::before_overwrite(Worker& worker, std::uint64_t begin, std::uint64_t end,
                                 std::vector<Ref<Event>>& waits) {
  if (trivial()) return;
  map_.visit(begin, end, [&](RangeMap<Ref<Event>>::Piece& piece) {
    if (piece.copy_of(worker.index()) != nullptr) wait_for_arrivals(worker, piece, waits);
  });
}

void Coherence::before_write_of_part(const Worker& worker, std::uint64_t begin, std::uint64_t end,
                                     std::vector<Ref<Event>>& waits) const {
  for (const Ref<Event>& transfer : arrivals_.departing(worker.index(), begin, end))
    if (std::find(waits.begin(), waits.end(), transfer) == waits.end()) waits.push_back(transfer);
}

void Coherence::used_by_part(const Ref<Event>& part) {
  std::erase_if(parts_, [&](const Ref<Event>& earlier) {
    return earlier->ended() || (earlier->queue() == part->queue() && part->queue()->in_order());
  });
  parts_.push_back(part);
}

std::uint64_t Coherence::missing(const Worker& worker, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t bytes = 0;
  map_.visit(begin, end, [&](RangeMap<Ref<Event>>::Piece& piece) {
    if (piece.copy_of(worker.index()) == nullptr) bytes += piece.end - piece.begin;
  });
  return bytes;
}

std::uint64_t Coherence::elsewhere(const Worker& worker, std::uint64_t begin, std::uint64_t end) {
  if (trivial()) return 0;
  std::uint64_t bytes = 0;
  map_.visit(begin, end, [&](RangeMap<Ref<Event>>::Piece& piece) {
    if (piece.copy_of(worker.index()) == nullptr && !host_holds(piece.copies) && !piece.copies.empty())
      bytes += piece.end - piece.begin;
  });
  return bytes;
}

void Coherence::written(Worker& worker, std::uint64_t begin, std::uint64_t end, const Ref<Event>& event,
                        bool may_fail) {
  if (trivial()) return;
  const auto superseded = [&](const Ref<Event>& earlier) {
    if (!earlier || !event) return true;
    // A writer has waited for the arrivals. An in-order queue completes its commands in order.
    return earlier->is_internal() || (earlier->queue() == event->queue() && event->queue()->in_order());
  };
  map_.visit(begin, end, revert_failures);
  map_.write(begin, end, worker.index(), event, superseded, may_fail);
  if (host_data_ != nullptr) drop_host_if_unused();
}

std::uint64_t Coherence::lacking(const Worker& worker, std::uint64_t begin, std::uint64_t end) const {
  RangeSet used;
  used.add(begin, end);
  if (const auto there = occupied_.find(worker.index()); there != occupied_.end()) used.remove(there->second);
  return used.bytes();
}

void Coherence::occupy(const Worker& worker, std::uint64_t begin, std::uint64_t end) {
  occupied_[worker.index()].add(begin, end);
}

std::uint64_t Coherence::occupied(const Worker& worker) const {
  const auto there = occupied_.find(worker.index());
  return there == occupied_.end() ? 0 : there->second.bytes();
}

void Coherence::trim(Worker& worker, bool tight) {
  const auto there = occupied_.find(worker.index());
  if (there == occupied_.end() || there->second.empty()) return;
  const Holder own = worker.index();
  const auto has_own = [own](const std::vector<RangeMap<Ref<Event>>::Copy>& copies) {
    return std::any_of(copies.begin(), copies.end(), [own](const auto& copy) { return copy.holder == own; });
  };
  // Whether content is there for certain.
  const auto complete = [](const RangeMap<Ref<Event>>::Copy& copy) {
    return std::all_of(copy.ready.begin(), copy.ready.end(), [](const Ref<Event>& ready) {
      return !ready || (ready->ended() && ready->status() == CL_COMPLETE);
    });
  };
  const auto& workers = Platform::instance().workers();
  RangeSet kept;
  map_.visit(0, object_.size(), [&](RangeMap<Ref<Event>>::Piece& piece) {
    revert_failures(piece);
    const auto* const copy = piece.copy_of(own);
    const bool elsewhere = tight && !piece.before && copy != nullptr && complete(*copy) &&
                           std::any_of(piece.copies.begin(), piece.copies.end(), [&](const auto& other) {
                             return other.holder != own && other.holder != kHost &&
                                    !workers[other.holder]->link().lost() && complete(other);
                           });
    if (elsewhere) std::erase_if(piece.copies, [own](const auto& each) { return each.holder == own; });
    bool needed = has_own(piece.copies);
    for (const auto* version = piece.before.get(); version != nullptr && !needed;
         version = version->before.get())
      needed = has_own(version->copies);
    if (needed) kept.add(piece.begin, piece.end);
  });
  RangeSet stale = there->second;
  stale.remove(kept);
  if (stale.empty()) return;
  there->second.remove(stale);
  protocol::TrimBuffer message{object_.id(), {}};
  for (const RangeSet::Range& range : kept.ranges())
    message.kept.push_back({range.begin, range.end - range.begin});
  worker.link().post(message);
}

std::uint64_t Coherence::home_size(std::size_t members) const {
  const std::uint64_t unit = std::uint64_t{2} << 20U;
  const std::uint64_t share = object_.size() / members + 1;
  return (share + unit - 1) / unit * unit;
}

std::vector<Coherence::Placed> Coherence::homes(std::size_t members, std::uint64_t begin,
                                                std::uint64_t end) const {
  const std::uint64_t size = home_size(members);
  std::vector<Placed> placed;
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t next = std::min(end, (at / size + 1) * size);
    placed.push_back({at, next, static_cast<std::size_t>(at / size)});
    at = next;
  }
  return placed;
}

std::vector<Coherence::Placed> Coherence::held_by(std::span<Worker* const> members, std::uint64_t begin,
                                                  std::uint64_t end) {
  std::vector<Placed> placed;
  const auto add = [&placed](const Placed& next) {
    if (!placed.empty() && placed.back().member == next.member)
      placed.back().end = next.end;
    else
      placed.push_back(next);
  };
  std::uint64_t at = begin;
  const auto add_homes = [&](std::uint64_t to) {
    for (const Placed& home : homes(members.size(), at, to)) add(home);
    at = to;
  };
  map_.visit(begin, end, [&](RangeMap<Ref<Event>>::Piece& piece) {
    revert_failures(piece);
    add_homes(piece.begin);
    const auto holds = [&](const Worker* member) {
      return !member->lost() && piece.copy_of(member->index()) != nullptr;
    };
    const auto holder = std::find_if(members.begin(), members.end(), holds);
    if (holder == members.end()) {
      add_homes(piece.end);
    } else {
      add({piece.begin, piece.end, static_cast<std::size_t>(holder - members.begin())});
      at = piece.end;
    }
  });
  add_homes(end);
  return placed;
}

void Coherence::forget_host(std::uint64_t begin, std::uint64_t end) {
  map_.visit(begin, end, [](RangeMap<Ref<Event>>::Piece& piece) {
    std::erase_if(piece.copies, [](const auto& copy) { return copy.holder == kHost; });
  });
  drop_host_if_unused();
}

void Coherence::drop_host_if_unused() {
  for (const auto& [begin, piece] : map_.pieces()) {
    if (host_holds(piece.copies)) return;
    for (const auto* before = piece.before.get(); before != nullptr; before = before->before.get())
      if (host_holds(before->copies)) return;
  }
  host_data_ = nullptr;
  host_owner_.reset();
}

std::vector<protocol::CommandId> Coherence::before_arrival(Worker& worker, std::uint64_t begin,
                                                           std::uint64_t end) {
  std::vector<Ref<Event>> earlier = arrivals_.under_way(worker.index(), begin, end);
  std::erase_if(parts_, [](const Ref<Event>& part) { return part->ended(); });
  // Without parts of launches, those who use the replaced content come before the command whose content is
  // sent.
  if (!parts_.empty()) {
    for (const Ref<Event>& part : parts_)
      if (part->worker() == &worker) earlier.push_back(part);
    for (const Ref<Event>& transfer : arrivals_.departing(worker.index(), begin, end)) {
      transfer->announce(worker);
      earlier.push_back(transfer);
    }
  }
  return ids_of_pending(earlier);
}

bool Coherence::holds(Holder holder, std::uint64_t begin, std::uint64_t end,
                      const std::vector<Ref<Event>>& after) {
  std::uint64_t known = begin;
  bool all = true;
  map_.visit(begin, end, [&](RangeMap<Ref<Event>>::Piece& piece) {
    revert_failures(piece);
    const auto* copy = piece.copy_of(holder);
    all = all && piece.begin == known && copy != nullptr;
    if (all)
      for (const Ref<Event>& ready : ready_of(*copy))
        all =
            all && (!ready || ready->ended() || std::find(after.begin(), after.end(), ready) != after.end());
    known = piece.end;
  });
  return all && known == end;
}

std::uint64_t Coherence::meant_end(std::uint64_t begin, std::uint64_t end) {
  const Ref<Memory>& size = object_.content_size();
  if (!size) return end;
  const std::uint64_t at = size->coherence_begin();
  if (!size->coherence().holds(kHost, at, at + kContentSizeBytes, {})) return end;
  std::uint64_t content = 0;
  for (std::size_t i = 0; i < kContentSizeBytes; ++i)
    content |= std::to_integer<std::uint64_t>(size->coherence().host_data_[at + i]) << (8 * i);
  // Transfers of 0 bytes are not allowed.
  return std::clamp(content, begin + 1, end);
}

Ref<Event> Coherence::upload(Worker& worker, std::uint64_t begin, std::uint64_t end, const Need& need) {
  end = meant_end(begin, end);
  Context& context = *object_.context();
  const protocol::ObjectId queue = context.transfer_queue(worker);
  object_.ensure_on(worker);
  Ref<Event> arrival(new Event(object_.context(), worker, CL_COMMAND_WRITE_BUFFER));
  if (trace::on()) note_migration({object_, begin, end, nullptr, worker}, need, {}, *arrival);
  worker.expect_event(arrival);
  using protocol::Command;
  const Command header{arrival->id(), queue, Command::kEvent | Command::kReport,
                       before_arrival(worker, begin, end)};
  if (const auto* image = dynamic_cast<const Image*>(&object_)) {
    const auto extent = image->extent();
    post_image_range(worker.link(), header, WaitsOn::EachPart, object_.id(),
                     {image->element_size(), {extent[0], extent[1], extent[2]}}, begin, end,
                     {host_data_, {}, host_owner_});
  } else if (end - begin > worker.link().largest_with_commands()) {
    post_large_write(worker, header, object_.id(), begin, {{host_data_ + begin, end - begin}, host_owner_});
  } else {
    post_buffer_write(worker.link(), header, WaitsOn::EachPart, object_.id(), begin, end - begin,
                      {host_data_ + begin, {}, host_owner_});
  }
  return arrival;
}

Ref<Event> Coherence::pull(Worker& worker, const Fetch& fetch, const Need& need) {
  Context& context = *object_.context();
  Worker& from = *Platform::instance().workers()[fetch.source];
  const protocol::ObjectId to_queue = context.transfer_queue(worker);
  const protocol::ObjectId from_queue = context.transfer_queue(from);
  object_.ensure_on(worker);
  Ref<Event> arrival(new Event(object_.context(), worker, CL_COMMAND_MIGRATE_MEM_OBJECTS));
  const Migration migration{object_, fetch.begin, fetch.end, &from, worker};
  back_and_forth_.note(migration, need);
  if (trace::on()) note_migration(migration, need, fetch.ready, *arrival);
  worker.expect_event(arrival);
  using protocol::Command;
  const std::uint64_t size = fetch.end - fetch.begin;
  const bool connects = from.connect_peer(worker);
  std::vector<protocol::CommandId> earlier = before_arrival(worker, fetch.begin, fetch.end);
  std::vector<protocol::CommandId> ready = ids_of_pending(fetch.ready);
  if (!connects && earlier.empty() && ready.empty() && context.has_combined_devices())
    measure(context.movement(from.link().shares_memory() && worker.link().shares_memory()), *arrival, size);
  worker.link().post(
      protocol::Expect{{arrival->id(), to_queue, Command::kEvent | Command::kReport, std::move(earlier)},
                       object_.id(),
                       fetch.begin,
                       size});
  protocol::Push push{{next_id(), from_queue, 0, std::move(ready)},
                      object_.id(),
                      fetch.begin,
                      size,
                      worker.index(),
                      arrival->id()};
  // Waiting for another writer of the content size could wait for something that comes after this transfer.
  const Ref<Memory>& content_size = object_.content_size();
  const std::uint64_t at = content_size ? content_size->coherence_begin() : 0;
  if (content_size &&
      content_size->coherence().holds(fetch.source, at, at + kContentSizeBytes, fetch.ready)) {
    content_size->ensure_on(from);
    push.content_size = content_size->id();
  }
  from.link().post(push);
  from.expect_push(arrival);
  return arrival;
}

}  // namespace clique::icd
