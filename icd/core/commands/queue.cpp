#include "icd/core/commands/queue.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "icd/core/transfers/host_segment.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/copy.hpp"

namespace clique::icd {

namespace {

/// Into how many parts a read may be split that come from several workers.
constexpr std::size_t kMostParts = 64;

/// A sink that puts data where it belongs once other reads have ended, whose data may come later by other
/// connections. The read's own event has to follow these.
DataSink after(std::vector<Ref<Event>> reads, DataSink sink) {
  return [reads = std::move(reads), sink = std::move(sink)](std::uint32_t part,
                                                            std::span<const std::byte> data) {
    if (std::all_of(reads.begin(), reads.end(), [](const Ref<Event>& read) { return read->ended(); })) {
      sink(part, data);
      return;
    }
    struct Later {
      DataSink sink;
      std::uint32_t part;
      std::vector<std::byte> data;
      std::atomic<std::size_t> left;
    };
    const std::shared_ptr<Later> later(new Later{sink, part, {data.begin(), data.end()}, reads.size()});
    for (const Ref<Event>& read : reads)
      read->then([later](cl_int /*status*/) {
        if (--later->left == 0) later->sink(later->part, later->data);
      });
  };
}

/// Those of the events that a command with these gates may come after. What is held back by another one is no
/// predecessor of it, and must not keep it waiting: the application may wait for it before it opens that
/// gate.
std::vector<Ref<Event>> may_precede(std::vector<Ref<Event>> events, const std::vector<Ref<Event>>& gates) {
  std::erase_if(events, [&](const Ref<Event>& event) {
    return std::any_of(event->gates().begin(), event->gates().end(), [&](const Ref<Event>& gate) {
      return !gate->ended() && std::find(gates.begin(), gates.end(), gate) == gates.end();
    });
  });
  return events;
}

}  // namespace

Queue::Queue(Ref<Context> context, Ref<Device> device, cl_command_queue_properties properties,
             std::vector<cl_queue_properties> property_list)
    : context_(std::move(context)),
      device_(std::move(device)),
      properties_(properties),
      property_list_(std::move(property_list)) {
  worker().link().post(protocol::CreateQueue{id_, context_->id(), device_->id(), properties_});
  if (const auto ahead = context_->add_queue(*this))
    worker().link().post(protocol::Barrier{{next_id(), id_, 0, {*ahead}}});
}

Queue::~Queue() {
  context_->remove_queue(*this);
  worker().release_object(id_);
}

Queue::Prepared Queue::prepare(Submission& submission) {
  Worker& here = worker();
  require(!here.link().lost(), CL_OUT_OF_RESOURCES, "the queue's node was lost");
  Prepared prepared;
  const bool elsewhere = context_->workers().size() > 1;
  const bool writes = std::any_of(submission.accesses.begin(), submission.accesses.end(),
                                  [](const Access& access) { return access.mode != Access::Read; });
  for (const Ref<Event>& wait : submission.waits) {
    prepared.doomed = prepared.doomed || wait->status() < 0;
    prepared.may_fail = prepared.may_fail || !wait->ended();
  }
  const bool keeps = std::any_of(submission.accesses.begin(), submission.accesses.end(),
                                 [](const Access& access) { return access.memory->outlives_commands(); });
  // Whether a write that may fail has failed is to be known.
  submission.report = submission.report || keeps || (elsewhere && writes && prepared.may_fail);
  if (submission.report || submission.named || (elsewhere && writes))
    prepared.event =
        Ref<Event>(new Event(context_, Ref<Queue>(this), here, submission.type, submission.report));
  prepared.header.id = prepared.event ? prepared.event->id() : next_id();
  prepared.header.queue = id_;
  if (prepared.event) prepared.header.flags = protocol::Command::kEvent;
  if (submission.report) prepared.header.flags |= protocol::Command::kReport;
  if (submission.direct) prepared.event->set_direct();

  if (prepared.doomed) {
    if (prepared.event) prepared.event->advance(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    return prepared;
  }
  std::vector<Ref<Event>> arrivals;
  if (!submission.accesses.empty()) {
    prepared.coherence = std::unique_lock(context_->coherence_mutex());
    for (const Access& access : submission.accesses) {
      access.memory->ensure_on(here);
      Coherence& coherence = access.memory->coherence();
      const std::uint64_t begin = access.memory->coherence_begin() + access.begin;
      if (keeps) prepared.event->keep(Ref<RefCounted>(access.memory));
      if (access.mode == Access::Overwrite) {
        coherence.before_overwrite(here, begin, begin + access.size, arrivals);
      } else {
        coherence.before_read(here, begin, begin + access.size, arrivals);
      }
    }
  }
  std::vector<Ref<Event>> foreign;
  const auto wait_for = [&](const Ref<Event>& event) {
    if (event->ended() && !submission.keep_ended) return;
    if (event->worker() != &here) event->announce(here);
    // One of this worker may be told ended later than it was reported, since it follows others itself.
    const bool follows_others =
        event->worker() != &here ? !event->is_user() : event->late() || event->follows_others();
    if (follows_others && !event->ended()) foreign.push_back(event);
    prepared.header.waits.push_back(event->id());
  };
  std::for_each(submission.waits.begin(), submission.waits.end(), wait_for);
  std::for_each(arrivals.begin(), arrivals.end(), wait_for);
  const std::vector<Ref<Event>> gates = gates_of(submission.waits, submission.after_all);
  note_gates(gates, submission.before_all);
  if (prepared.event) prepared.event->set_gates(gates);
  if (!submission.fills.empty()) {
    auto earlier = may_precede(earlier_fills(submission.fills, submission.direct), gates);
    if (!earlier.empty()) {
      context_->set_late_events();
      foreign.insert(foreign.end(), earlier.begin(), earlier.end());
      if (submission.sink) submission.sink = after(std::move(earlier), std::move(submission.sink));
    }
  }
  if (elsewhere || context_->has_late_events())
    foreign = note_foreign(std::move(foreign), submission.report ? prepared.event : Ref<Event>(),
                           submission.after_all, submission.before_all);
  if (submission.report && !foreign.empty()) prepared.event->follows(std::move(foreign));
  if (submission.report) {
    here.expect_event(prepared.event);
    if (!submission.fills.empty())
      context_->host_reads().add(submission.fills.data(), submission.fills.size(), prepared.event);
    if (submission.sink) here.expect_data(prepared.event->id(), std::move(submission.sink));
  }
  return prepared;
}

std::vector<Ref<Event>> Queue::earlier_fills(std::span<const std::byte> memory, bool overtakes) const {
  auto reads = context_->host_reads().pending(memory.data(), memory.size());
  if (in_order())
    std::erase_if(reads, [this, overtakes](const Ref<Event>& read) {
      return read->queue().get() == this && !read->late() && (!overtakes || read->direct());
    });
  return reads;
}

std::vector<Ref<Event>> Queue::reads_to_come(std::span<const std::byte> memory,
                                             std::span<const Ref<Event>> waits) {
  auto reads = context_->host_reads().pending(memory.data(), memory.size());
  return reads.empty() ? reads : may_precede(std::move(reads), gates_of(waits, false));
}

std::vector<Ref<Event>> Queue::gates_of(std::span<const Ref<Event>> waits, bool after_all) {
  std::vector<Ref<Event>> gates;
  if (!context_->has_user_events()) return gates;
  const auto add = [&](const Ref<Event>& gate) {
    if (!gate->ended() && std::find(gates.begin(), gates.end(), gate) == gates.end()) gates.push_back(gate);
  };
  for (const Ref<Event>& wait : waits) {
    if (wait->is_user()) add(wait);
    std::for_each(wait->gates().begin(), wait->gates().end(), add);
  }
  const std::lock_guard lock(foreign_mutex_);
  const auto& own = after_all || in_order() ? gates_ : gates_fence_;
  std::for_each(own.begin(), own.end(), add);
  return gates;
}

void Queue::note_gates(const std::vector<Ref<Event>>& gates, bool before_all) {
  if (gates.empty()) return;
  std::vector<Ref<Event>> gone;  // let go of after the lock
  const auto add_to = [&](std::vector<Ref<Event>>& own) {
    const auto ended =
        std::partition(own.begin(), own.end(), [](const Ref<Event>& gate) { return !gate->ended(); });
    std::move(ended, own.end(), std::back_inserter(gone));
    own.erase(ended, own.end());
    for (const Ref<Event>& gate : gates)
      if (std::find(own.begin(), own.end(), gate) == own.end()) own.push_back(gate);
  };
  const std::lock_guard lock(foreign_mutex_);
  add_to(gates_);
  if (before_all && !in_order()) add_to(gates_fence_);
}

std::vector<Ref<Event>> Queue::note_foreign(std::vector<Ref<Event>> waits, const Ref<Event>& reported,
                                            bool after_all, bool before_all) {
  after_all = after_all || in_order();
  std::vector<Ref<Event>> gone;  // let go of after the lock
  const std::lock_guard lock(foreign_mutex_);
  const auto own = static_cast<std::ptrdiff_t>(waits.size());
  for (const Ref<Event>& event : after_all ? foreign_ : foreign_fence_)
    if (!event->ended()) waits.push_back(event);
  const bool stands = reported && !waits.empty();
  const std::vector<Ref<Event>> followed = stands ? std::vector{reported} : waits;
  if (after_all) {
    gone.swap(foreign_);
    foreign_ = followed;
  } else {
    foreign_.insert(foreign_.end(), followed.begin(), stands ? followed.end() : followed.begin() + own);
  }
  if (before_all && !in_order()) {
    std::move(foreign_fence_.begin(), foreign_fence_.end(), std::back_inserter(gone));
    foreign_fence_ = followed;
  }
  if (foreign_.size() > many_foreign_) {
    const auto ended = std::stable_partition(foreign_.begin(), foreign_.end(),
                                             [](const Ref<Event>& event) { return !event->ended(); });
    std::move(ended, foreign_.end(), std::back_inserter(gone));
    foreign_.erase(ended, foreign_.end());
    many_foreign_ = std::max<std::size_t>(64, 2 * foreign_.size());
  }
  return waits;
}

void Queue::commit(const Submission& submission, const Prepared& prepared) {
  for (const Access& access : submission.accesses) {
    if (access.mode == Access::Read) continue;
    const std::uint64_t begin = access.memory->coherence_begin() + access.begin;
    access.memory->coherence().written(worker(), begin, begin + access.size, prepared.event,
                                       prepared.may_fail);
  }
}

void Queue::flush() {
  context_->flush();
}

void Queue::finish() {
  context_->flush();
  const auto finished = worker().link().request<protocol::Finished>(protocol::Finish{0, id_});
  // The driver may call back for a command after it has ended the marker behind it.
  for (const Ref<Event>& event :
       worker().pending([this](const Event& event) { return event.queue().get() == this; }))
    event->wait();
  for (const Ref<Event>& event : note_foreign({}, nullptr, true, false)) event->wait();
  if (finished.status < 0) throw Error(finished.status, "a command without event failed");
}

template <typename Add>
std::pair<Ref<Event>, protocol::CommandId> Queue::submit_bulk(Submission submission, Bulk bulk, Add&& add) {
  submission.report = true;
  Prepared prepared = prepare(submission);
  if (prepared.doomed) return {prepared.event, 0};
  Worker& here = worker();
  const protocol::ObjectId transfer_queue = context_->transfer_queue(here);
  const bool download = !bulk.fills.empty();
  if (download) {
    // Its parts come by other connections than what follows, or are put in place by another thread.
    here.link().expect_pushes();
    context_->set_late_events();
    prepared.event->set_late();
    std::vector<Ref<Event>> now{prepared.event};  // what was before is let go of after the lock
    const std::lock_guard lock(foreign_mutex_);
    foreign_.swap(now);
  }

  using protocol::Command;
  const auto reported = [&] {
    Ref<Event> event(new Event(context_, nullptr, here, CL_COMMAND_MARKER, true));
    here.expect_event(event);
    return event;
  };
  if (profiling()) bulk.turn = reported();
  bulk.transfer = reported();
  const protocol::CommandId transfer = bulk.transfer->id();
  const Command turn{
      bulk.turn ? bulk.turn->id() : next_id(), id_,
      static_cast<std::uint8_t>(bulk.turn ? Command::kEvent | Command::kReport : Command::kEvent),
      prepared.header.waits};
  const bool forget_turn = !bulk.turn;
  here.expect_bulk(prepared.header.id, std::move(bulk));
  here.link().compose([&](protocol::Batch& outbox) {
    outbox.add(protocol::Marker{turn});
    add(outbox, Command{transfer, transfer_queue, Command::kEvent | Command::kReport, {turn.id}},
        prepared.header.id);
    outbox.add(protocol::Marker{{prepared.header.id, id_, prepared.header.flags, {transfer}}});
    if (forget_turn) outbox.add(protocol::Release{{}, {turn.id}});
  });
  commit(submission, prepared);
  return {prepared.event, transfer};
}

Ref<Event> Queue::read_bulk(Memory& buffer, std::size_t offset, std::span<std::byte> to,
                            std::span<const Ref<Event>> waits, cl_command_type type) {
  const Access access{&buffer, offset, to.size(), Access::Read};
  Submission submission{type, waits, {&access, 1}};
  submission.fills = to;
  Bulk bulk;
  bulk.fills = to;
  return submit_bulk(
             std::move(submission), std::move(bulk),
             [&](protocol::Batch& outbox, const protocol::Command& header, protocol::CommandId command) {
               outbox.add(
                   protocol::Push{header, buffer.id(), offset, to.size(), protocol::kClientPeer, command});
             })
      .first;
}

Ref<Event> Queue::gather(Memory& buffer, std::size_t offset, std::span<std::byte> to,
                         std::span<const Ref<Event>> waits, cl_command_type type) {
  // The command's times would be those of several transfers, on several nodes.
  if (context_->workers().size() < 2 || profiling()) return {};
  const std::uint64_t begin = buffer.coherence_begin() + offset;
  const auto parts = [&] { return buffer.coherence().parts(worker(), begin, begin + to.size()); };
  {
    const std::lock_guard lock(context_->coherence_mutex());
    const auto found = parts();
    if (found.size() > kMostParts || (found.size() == 1 && found.front().holder == &worker())) return {};
  }
  const auto mark = [](protocol::Batch& outbox, protocol::Command& header) {
    outbox.add(protocol::Marker{std::move(header)});
  };
  const Ref<Event> turn = submit({CL_COMMAND_MARKER, waits, {}, true}, mark);
  const auto range = std::make_shared<HostRange>();
  std::vector<Ref<Event>> transfers{turn};
  if (turn->status() >= 0) {
    try {
      const std::lock_guard lock(context_->coherence_mutex());
      for (const Coherence::Part& part : parts())
        transfers.push_back(
            read_part(buffer, part, to.subspan(part.begin - begin, part.end - part.begin), *turn, range));
    } catch (...) {
      range->close();
      throw;
    }
  }
  Submission submission{type, transfers, {}, true, true};
  submission.fills = to;
  Prepared prepared = prepare(submission);
  if (!prepared.doomed) {
    context_->set_late_events();
    prepared.event->set_late();
    prepared.event->set_parts(transfers);
    if (buffer.outlives_commands()) prepared.event->keep(Ref<RefCounted>(&buffer));
    Bulk bulk;
    bulk.range = range;
    worker().expect_bulk(prepared.header.id, std::move(bulk));
    worker().link().compose([&](protocol::Batch& outbox) { mark(outbox, prepared.header); });
  }
  // Some of the transfers may not have ended.
  if (prepared.event->status() < 0) range->close();
  return prepared.event;
}

Ref<Event> Queue::read_part(Memory& buffer, const Coherence::Part& part, std::span<std::byte> to, Event& turn,
                            const std::shared_ptr<HostRange>& range) {
  Worker& from = *part.holder;
  buffer.ensure_on(from);
  std::vector<Ref<Event>> waits = part.ready;
  if (&from == &worker()) buffer.coherence().before_read(from, part.begin, part.end, waits);
  Ref<Event> transfer(new Event(context_, nullptr, from, CL_COMMAND_READ_BUFFER, true));
  transfer->set_late();
  from.link().expect_pushes();
  from.expect_event(transfer);
  using protocol::Command;
  Command header{transfer->id(), context_->transfer_queue(from), Command::kEvent | Command::kReport, {}};
  for (const Ref<Event>& wait : waits)
    if (wait && !wait->ended()) header.waits.push_back(wait->id());
  if (!turn.ended()) {
    if (&from != &worker()) turn.announce(from);
    header.waits.push_back(turn.id());
  }
  const std::uint64_t offset = part.begin - buffer.coherence_begin();
  if (const auto place = HostSegment::find(to, from)) {
    from.link().expect_transfer(to.size());
    from.link().post(protocol::ReadToSegment{std::move(header), buffer.id(), offset, to.size(),
                                             place->segment, place->at});
    return transfer;
  }
  Bulk bulk;
  bulk.range = range;
  bulk.fills = to;
  from.expect_bulk(transfer->id(), std::move(bulk));
  from.link().post(protocol::Push{std::move(header), buffer.id(), offset, to.size(), protocol::kClientPeer,
                                  transfer->id()});
  return transfer;
}

Ref<Event> Queue::write_bulk(Memory& buffer, std::size_t offset, const protocol::Payload& content,
                             std::span<const Ref<Event>> waits, cl_command_type type) {
  const Access access{&buffer, offset, content.bytes.size(), Access::Overwrite};
  const auto reads = reads_to_come(content.bytes, waits);
  if (!reads.empty())
    return write_later(reads, type, access, waits,
                       [here = &worker(), id = buffer.id(), offset, content](
                           Link& /*link*/, const protocol::Command& header, bool /*in_order*/) {
                         here->upload(header, id, offset, content);
                       });
  Bulk bulk;
  bulk.upload = true;
  const auto [event, transfer] = submit_bulk(
      {type, waits, {&access, 1}}, std::move(bulk),
      [&](protocol::Batch& outbox, const protocol::Command& header, protocol::CommandId /*command*/) {
        outbox.add(protocol::Expect{header, buffer.id(), offset, content.bytes.size()});
      });
  if (transfer != 0) worker().link().upload(transfer, content);
  return event;
}

bool Queue::is_bulk(std::size_t size) const {
  return in_order() &&
         size > (worker().link().is_long_way() ? protocol::kLargeOverLongWay : protocol::kLargeTransfer);
}

std::shared_ptr<EarlyRead> Queue::early_read(std::size_t size, std::span<const Ref<Event>> waits) {
  Worker& here = worker();
  if (!EarlyRead::fits(size) || !here.link().shares_memory() || !here.nothing_to_come()) return nullptr;
  const auto ended = [](const Ref<Event>& event) { return event->ended(); };
  if (!std::all_of(waits.begin(), waits.end(), ended)) return nullptr;
  {
    const std::lock_guard lock(foreign_mutex_);
    if (!std::all_of(foreign_.begin(), foreign_.end(), ended)) return nullptr;
  }
  return EarlyRead::make(here.link(), size);
}

Ref<Event> Queue::read(Memory& buffer, std::size_t offset, std::size_t size, void* to,
                       std::span<const Ref<Event>> waits, bool /*report*/, cl_command_type type,
                       const std::shared_ptr<EarlyRead>& early) {
  const std::span range(static_cast<std::byte*>(to), size);
  const auto place = HostSegment::find(range, worker());
  const Access access{&buffer, offset, size, Access::Read};
  // Where the data comes in parts in any order, by a connection of its own, or is put there by the device, it
  // could not follow what others put there.
  const bool overtakes = place || !worker().link().shares_memory();
  const bool bulk = is_bulk(size);
  if ((bulk || place) && earlier_fills(range, overtakes).empty()) {
    if (bulk)
      if (Ref<Event> gathered = gather(buffer, offset, range, waits, type)) return gathered;
    if (!place) return read_bulk(buffer, offset, range, waits, type);
    Submission submission{type, waits, {&access, 1}, true};
    submission.fills = range;
    submission.direct = true;
    worker().link().expect_transfer(size);
    return submit(std::move(submission), [&](protocol::Batch& outbox, protocol::Command& header) {
      outbox.add(
          protocol::ReadToSegment{std::move(header), buffer.id(), offset, size, place->segment, place->at});
    });
  }
  // After an early end the memory is the application's, and the buffer may go, although the event is still to
  // come.
  const auto fills = early ? std::span<const std::byte>() : range;
  const Ref<Memory> keep(early ? nullptr : &buffer);
  DataSink sink = [to, size, keep, early](std::uint32_t part, std::span<const std::byte> data) {
    const std::size_t begin = part * protocol::kPartSize;
    if (begin <= size && data.size() <= size - begin && (!early || early->claim()))
      icd::copy(static_cast<std::byte*>(to) + begin, data.data(), data.size());
  };
  return submit_parts({type, waits, {&access, 1}, true, false, std::move(sink), fills},
                      [&](Link& link, protocol::Command& header) {
                        const std::size_t count = (size + protocol::kPartSize - 1) / protocol::kPartSize;
                        post_parts(link, header, in_order(), count,
                                   [&](protocol::Command own, std::size_t i) {
                                     const std::size_t begin = i * protocol::kPartSize;
                                     return protocol::ReadBuffer{std::move(own),
                                                                 static_cast<std::uint32_t>(i),
                                                                 buffer.id(),
                                                                 offset + begin,
                                                                 std::min(protocol::kPartSize, size - begin),
                                                                 early ? early->end() : 0};
                                   });
                      });
}

Ref<Event> Queue::write_from(std::span<const std::byte> memory, cl_command_type type, const Access& access,
                             std::span<const Ref<Event>> waits, bool report, PostWrite post, bool named) {
  const auto reads = reads_to_come(memory, waits);
  if (!reads.empty()) return write_later(reads, type, access, waits, std::move(post));
  Submission submission{type, waits, {&access, 1}, report};
  submission.named = named;
  return submit_parts(std::move(submission),
                      [&](Link& link, const protocol::Command& header) { post(link, header, in_order()); });
}

Ref<Event> Queue::write_later(std::span<const Ref<Event>> reads, cl_command_type type, const Access& access,
                              std::span<const Ref<Event>> waits, PostWrite post) {
  const auto mark = [](protocol::Batch& outbox, protocol::Command& header) {
    outbox.add(protocol::Marker{std::move(header)});
  };
  // In the queue, the write is two markers: one ends when it is its turn, the other when a gate opens, which
  // it does when the write has been done on the transfer queue, in between.
  const Access before{access.memory, access.begin, access.size, Access::Read};
  const Ref<Event> turn = nothing(waits, true, CL_COMMAND_MARKER, {&before, 1});
  const Ref<Event> gate(new Event(context_));
  // Whoever sees it ended has to find ended what it was the turn of, too.
  const std::array both{turn, gate};
  Ref<Event> result = submit({type, both, {&access, 1}, true, true}, mark);

  struct Later {
    Ref<Queue> queue;
    Ref<Memory> memory;
    Ref<Event> turn;
    Ref<Event> gate;
    PostWrite post;
    std::atomic<std::size_t> reads_left;
    std::atomic<cl_int> failure{CL_SUCCESS};

    void write() {
      Context& context = *queue->context();
      if (failure < 0) {
        gate->settle(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
      } else {
        Worker& worker = queue->worker();
        const Ref<Event> written(new Event(queue->context(), nullptr, worker, CL_COMMAND_WRITE_BUFFER, true));
        worker.expect_event(written);
        post(worker.link(),
             {written->id(),
              context.transfer_queue(worker),
              protocol::Command::kEvent | protocol::Command::kReport,
              {turn->id()}},
             false);
        written->then([gate = gate](cl_int status) { gate->settle(status); });
      }
      context.flush();
    }
  };
  const std::shared_ptr<Later> later(
      new Later{Ref<Queue>(this), Ref<Memory>(access.memory), turn, gate, std::move(post), reads.size()});
  for (const Ref<Event>& read : reads)
    read->then([later](cl_int status) {
      if (status < 0) later->failure = status;
      if (--later->reads_left == 0) later->write();
    });
  return result;
}

Ref<Event> Queue::write(Memory& buffer, std::size_t offset, std::size_t size, const HostContent& from,
                        std::span<const Ref<Event>> waits, bool report, cl_command_type type) {
  const Access access{&buffer, offset, size, Access::Overwrite};
  if (const auto place = from.copy ? std::nullopt : HostSegment::find({from.data, size}, worker()))
    return write_from(
        {from.data, size}, type, access, waits, report,
        [id = buffer.id(), offset, size, place = *place](Link& link, const protocol::Command& header,
                                                         bool /*in_order*/) {
          link.expect_transfer(size);
          link.post(protocol::WriteFromSegment{header, id, offset, size, place.segment, place.at});
        });
  if (is_bulk(size) && !from.copy)
    return write_bulk(buffer, offset, {{from.data, size}, from.owner}, waits, type);
  return write_from(
      {from.data, size}, type, access, waits, report,
      [id = buffer.id(), offset, size, from](Link& link, const protocol::Command& header, bool in_order) {
        post_buffer_write(link, header, in_order, id, offset, size, from);
      },
      from.copy);
}

namespace {

/// Puts the parts of a box where they belong in host memory.
DataSink scatter(std::vector<BoxPart> parts, std::size_t unit, void* to, const Pitches& pitches,
                 Ref<Memory> keep) {
  return [parts = std::move(parts), unit, to, pitches, keep = std::move(keep)](
             std::uint32_t index, std::span<const std::byte> data) {
    if (index >= parts.size()) return;
    const BoxPart& part = parts[index];
    const auto bytes = part.bytes(unit);
    if (data.size() != bytes[0] * bytes[1] * bytes[2]) return;
    copy_box(static_cast<std::byte*>(to) + part.offset(unit, pitches), pitches, data.data(), dense(bytes),
             bytes);
  };
}

protocol::Triple moved(const protocol::Triple& origin, const protocol::Triple& by) {
  return {origin[0] + by[0], origin[1] + by[1], origin[2] + by[2]};
}

}  // namespace

Ref<Event> Queue::read_rect(Memory& buffer, const Box& box, const protocol::Triple& region, void* to,
                            const Pitches& pitches, std::span<const Ref<Event>> waits, bool /*report*/) {
  const Access access{&buffer, box.begin(), box.end(region) - box.begin(), Access::Read};
  const auto parts = split(region, 1);
  DataSink sink = scatter(parts, 1, to, pitches, Ref<Memory>(&buffer));
  const std::span fills(static_cast<const std::byte*>(to), extent(region, pitches));
  return submit_parts(
      {CL_COMMAND_READ_BUFFER_RECT, waits, {&access, 1}, true, false, std::move(sink), fills},
      [&](Link& link, protocol::Command& header) {
        post_parts(link, header, in_order(), parts.size(), [&](protocol::Command own, std::size_t i) {
          return protocol::ReadBufferRect{std::move(own),   static_cast<std::uint32_t>(i),
                                          buffer.id(),      moved(box.origin, parts[i].origin),
                                          parts[i].region,  box.pitches.row,
                                          box.pitches.slice};
        });
      });
}

Ref<Event> Queue::write_rect(Memory& buffer, const Box& box, const protocol::Triple& region,
                             const HostContent& from, std::span<const Ref<Event>> waits, bool report) {
  const Access access{&buffer, box.begin(), box.end(region) - box.begin(), Access::ReadWrite};
  return write_from(
      {from.data, extent(region, from.pitches)}, CL_COMMAND_WRITE_BUFFER_RECT, access, waits, report,
      [id = buffer.id(), box, region, from](Link& link, const protocol::Command& header, bool in_order) {
        const auto parts = split(region, 1);
        post_parts(link, header, in_order, parts.size(), [&](protocol::Command own, std::size_t i) {
          const BoxPart& part = parts[i];
          return protocol::WriteBufferRect{
              std::move(own),
              id,
              moved(box.origin, part.origin),
              part.region,
              box.pitches.row,
              box.pitches.slice,
              payload(from, from.data + part.offset(1, from.pitches), part.region)};
        });
      });
}

Ref<Event> Queue::read_image(Image& image, const protocol::Triple& origin, const protocol::Triple& region,
                             void* to, const Pitches& pitches, std::span<const Ref<Event>> waits,
                             bool /*report*/, cl_command_type type) {
  const Access access = Access::all(image, Access::Read);
  const std::size_t unit = image.element_size();
  const auto parts = split(region, unit);
  DataSink sink = scatter(parts, unit, to, pitches, Ref<Memory>(&image));
  const std::span fills(static_cast<const std::byte*>(to),
                        extent({region[0] * unit, region[1], region[2]}, pitches));
  return submit_parts(
      {type, waits, {&access, 1}, true, false, std::move(sink), fills},
      [&](Link& link, protocol::Command& header) {
        post_parts(link, header, in_order(), parts.size(), [&](protocol::Command own, std::size_t i) {
          const auto bytes = parts[i].bytes(unit);
          return protocol::ReadImage{std::move(own),  static_cast<std::uint32_t>(i),
                                     image.id(),      moved(origin, parts[i].origin),
                                     parts[i].region, bytes[0] * bytes[1] * bytes[2]};
        });
      });
}

Ref<Event> Queue::write_image(Image& image, const protocol::Triple& origin, const protocol::Triple& region,
                              const HostContent& from, std::span<const Ref<Event>> waits, bool report,
                              cl_command_type type) {
  const Access access = Access::all(image, image.covers(region) ? Access::Overwrite : Access::ReadWrite);
  const std::size_t unit = image.element_size();
  return write_from({from.data, extent({region[0] * unit, region[1], region[2]}, from.pitches)}, type, access,
                    waits, report,
                    [id = image.id(), unit, origin, region, from](Link& link, const protocol::Command& header,
                                                                  bool in_order) {
                      post_image_write(link, header, in_order, id, unit, origin, region, from);
                    });
}

Ref<Event> Queue::map(Memory& memory, Mapping& mapping, std::span<const Ref<Event>> waits, bool report,
                      cl_command_type type) {
  auto* image = dynamic_cast<Image*>(&memory);
  const std::size_t unit = image != nullptr ? image->element_size() : 1;
  Pitches pitches = dense({mapping.region[0] * unit, mapping.region[1], mapping.region[2]});
  if ((memory.flags() & CL_MEM_USE_HOST_PTR) != 0 && memory.host_ptr() != nullptr) {
    if (image != nullptr) pitches = image->host_pitches();
    mapping.pointer = static_cast<std::byte*>(memory.host_ptr()) + mapping.origin[0] * unit +
                      mapping.origin[1] * pitches.row + mapping.origin[2] * pitches.slice;
  } else {
    if (auto pinned = memory.pinned_memory(mapping.origin[0]))
      mapping.block = std::move(pinned);
    else
      mapping.block = allocate_host_block(mapping.region[0] * unit * mapping.region[1] * mapping.region[2]);
    mapping.pointer = mapping.block.get();
  }
  mapping.pitches = pitches;
  memory.add_mapping(mapping);
  try {
    if ((mapping.flags & CL_MAP_WRITE_INVALIDATE_REGION) != 0) return nothing(waits, report, type);
    if (image != nullptr)
      return read_image(*image, mapping.origin, mapping.region, mapping.pointer, pitches, waits, true, type);
    return read(memory, mapping.origin[0], mapping.region[0], mapping.pointer, waits, true, type);
  } catch (...) {
    memory.take_mapping(mapping.pointer);
    throw;
  }
}

Ref<Event> Queue::unmap(Memory& memory, Mapping mapping, std::span<const Ref<Event>> waits, bool report,
                        cl_command_type type) {
  if (!mapping.writes()) return nothing(waits, report, type);
  const HostContent content{static_cast<const std::byte*>(mapping.pointer), mapping.pitches, mapping.block};
  if (auto* image = dynamic_cast<Image*>(&memory))
    return write_image(*image, mapping.origin, mapping.region, content, waits, report, type);
  return write(memory, mapping.origin[0], mapping.region[0], content, waits, report, type);
}

Ref<Event> Queue::migrate(std::vector<Access> ranges, cl_mem_migration_flags flags,
                          std::span<const Ref<Event>> waits, bool report, cl_command_type type) {
  const bool undefined = (flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED) != 0;
  for (Access& range : ranges) range.mode = undefined ? Access::Overwrite : Access::Read;
  // Content that goes to the host stays where it is: the host reads it from there.
  if ((flags & CL_MIGRATE_MEM_OBJECT_HOST) != 0) ranges.clear();
  return nothing(waits, report, type, ranges);
}

Ref<Event> Queue::call(std::function<void()> action, std::span<const Ref<Event>> waits,
                       cl_command_type type) {
  const Ref<Event> turn = nothing(waits, true, CL_COMMAND_MARKER);
  const Ref<Event> done(new Event(context_));
  const std::array both{turn, done};
  Ref<Event> result = nothing(both, true, type);
  turn->then([done, context = context_, action = std::move(action)](cl_int status) {
    if (status >= 0) action();
    done->settle(status < 0 ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_COMPLETE);
    context->flush();
  });
  return result;
}

Ref<Event> Queue::nothing(std::span<const Ref<Event>> waits, bool report, cl_command_type type,
                          std::span<const Access> accesses) {
  Submission submission{type, waits, accesses, report, true};
  // A marker that waits for no event would wait for all commands before it.
  Ref<Event> ended;
  if (waits.empty() && !in_order()) {
    ended = Ref<Event>(new Event(context_));
    ended->advance(CL_COMPLETE);
    submission.waits = {&ended, 1};
  }
  return submit(std::move(submission), [&](protocol::Batch& outbox, protocol::Command& header) {
    outbox.add(protocol::Marker{std::move(header)});
  });
}

Ref<Event> Queue::marker(std::span<const Ref<Event>> waits, bool report) {
  Submission submission{CL_COMMAND_MARKER, waits, {}, report, true};
  submission.after_all = waits.empty();
  return submit(std::move(submission), [&](protocol::Batch& outbox, protocol::Command& header) {
    outbox.add(protocol::Marker{std::move(header)});
  });
}

Ref<Event> Queue::barrier(std::span<const Ref<Event>> waits, bool report) {
  Submission submission{CL_COMMAND_BARRIER, waits, {}, report, true};
  submission.after_all = waits.empty();
  submission.before_all = true;
  return submit(std::move(submission), [&](protocol::Batch& outbox, protocol::Command& header) {
    outbox.add(protocol::Barrier{std::move(header)});
  });
}

std::vector<Ref<Event>> wait_list(const Context& context, cl_uint count, const cl_event* events) {
  require((count == 0) == (events == nullptr), CL_INVALID_EVENT_WAIT_LIST,
          "event_wait_list and its count disagree");
  std::vector<Ref<Event>> list;
  list.reserve(count);
  for (cl_uint i = 0; i < count; ++i) {
    try {
      list.push_back(get<Event>(events[i]));
    } catch (const Error&) {
      throw Error(CL_INVALID_EVENT_WAIT_LIST, "an event in event_wait_list is no live handle");
    }
    require(list.back()->context().get() == &context, CL_INVALID_CONTEXT, "an event of another context");
  }
  return list;
}

}  // namespace clique::icd
