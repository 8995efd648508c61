#include "protocol/streams/stream_set.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>
#include <utility>

#include "protocol/decode_error.hpp"
#include "protocol/limits.hpp"
#include "protocol/no_signals.hpp"
#include "protocol/random.hpp"
#include "protocol/security/public_key.hpp"
#include "protocol/streams/stream.hpp"
#include "protocol/streams/ucx_stream.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::protocol {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// The pause between two attempts to connect.
constexpr auto kPause = 100ms;
/// How long the first connection of a line may take, if that is longer than the resume timeout.
constexpr auto kFirstConnection = 5s;
/// How often to look whether what was sent is acknowledged, while there is nothing else to send.
constexpr auto kStallCheck = 5s;
/// Lines that one end accepts, which is more than any other end opens: each takes two threads.
constexpr std::size_t kMaxLines = 256;
/// Lines that all sets of a process open, beside the first one of each set.
constexpr unsigned kLinesPerProcessor = 4;
std::atomic<unsigned> opened_lines{0};
/// Connections of a line through UCX, one after the other, that carry nothing. Then something is wrong with
/// UCX that others would not help against.
constexpr unsigned kFruitlessConnections = 3;

std::shared_ptr<Stream> make_stream(Dialled connection, StreamRequest::Content content, StreamEnd end) {
  if (content == StreamRequest::Content::UcxParts)
    return std::make_shared<UcxStream>(std::move(connection), end);
  return std::make_shared<Stream>(std::move(connection), end);
}

}  // namespace

unsigned stream_count(std::chrono::nanoseconds round_trip, Encryption encryption) {
  constexpr unsigned kOnLongWay = 4;
  // With 4 MiB for sending, Linux's default, a connection has some 2.7 MiB under way: over 10 Gb/s and 20 ms,
  // nine connections are needed, and more where packets are lost.
  constexpr unsigned kOnVeryLongWay = 16;
  // A connection moves several GB/s, and 1 to 2 GB/s if it is encrypted. Each has two threads at both ends,
  // and more threads than processors move less. What is left is for commands, the device and the application.
  static const unsigned processors = std::max(std::thread::hardware_concurrency(), 1U);
  // On hosts with many processors, memory and the kernel become the limit.
  constexpr unsigned kMany = 64;
  const unsigned encrypting = processors < kMany ? processors * 7 / 16 : 40U;
  const unsigned count = encryption == Encryption::All
                             ? std::max(encrypting, std::min(processors - processors / 8, 14U))
                             : std::clamp(processors / 4, std::min(processors / 2, 8U), 16U);
  const unsigned useful = processors <= 2 ? 1 : count;
  if (round_trip > LineCount::kVeryLongWay) return std::max(useful, kOnVeryLongWay);
  return round_trip > kLongWay ? std::max(useful, kOnLongWay) : useful;
}

std::size_t window_size(std::chrono::nanoseconds round_trip, Encryption encryption) {
  // What the stages hold for each stream: parts that are read, encrypted, received and put in their place.
  constexpr std::size_t kAtEnds = 4 * kMiB;
  // The rate of the fastest link that one way is expected to have.
  constexpr double kBytesPerNs = 3;
  // What is lost arrives a round trip later, and everything behind it on its connection with it.
  constexpr unsigned kRoundTrips = 2;
  constexpr std::size_t kMost = 64 * kMiB;
  const unsigned all = stream_count(0ns, encryption);
  const std::size_t at_ends = kAtEnds * (round_trip > kLongWay ? std::min(all, LineCount::kFirst) : all);
  const auto on_the_way =
      static_cast<std::size_t>(static_cast<double>(round_trip.count()) * kBytesPerNs * kRoundTrips);
  return std::min(at_ends + on_the_way, kMost);
}

std::size_t part_size(std::uint64_t size, unsigned streams) {
  // So that parts of images end between pixels.
  constexpr std::uint64_t kUnit = 4 * kKiB;
  const auto divided = [](std::uint64_t bytes, std::uint64_t by) { return (bytes + by - 1) / by; };
  const std::uint64_t rounds = std::max<std::uint64_t>(1, divided(size, streams * kPartSize));
  return std::clamp<std::uint64_t>(divided(divided(size, rounds * streams), kUnit) * kUnit, kLeastPartSize,
                                   kPartSize);
}

struct StreamSet::Line {
  explicit Line(LineId number) : id(number) {}

  // All under the set's mutex_.
  const LineId id;
  std::shared_ptr<Stream> stream;  ///< null: there is no connection
  unsigned rank = 0;               ///< among the lines with a connection
  std::uint32_t attempt = 0;       ///< the last connection's
  bool connected = false;          ///< there has been a connection
  bool used = false;               ///< it has carried data
  bool receiving = false;          ///< a thread receives from the last connection
  std::uint64_t received = 0;      ///< parts that have arrived
  std::size_t unacknowledged = 0;  ///< bytes of those since the last acknowledgement
  bool owes = false;               ///< an acknowledgement is to be sent
  unsigned fruitless = 0;          ///< the last connections, through which nothing has come
  std::uint64_t taken = 0;         ///< parts that were taken from the queue
  std::deque<PeerData> kept;       ///< the last of them
  std::size_t next = 0;            ///< the first of `kept` to be sent on this connection
  Clock::time_point progress;  ///< when the other end last acknowledged what was sent, or nothing was kept

  Packer packer;  ///< of the writer alone

  std::thread writer;
  std::thread reader;
};

StreamSet::StreamSet(Owner& owner, Compression compression)
    : owner_(owner),
      patience_(std::chrono::milliseconds::max()),
      compression_(compression),
      sending_(std::make_shared<BusyTime>()) {
  begin_use();
}

StreamSet::StreamSet(Owner& owner, std::chrono::milliseconds patience, StreamTarget target,
                     std::shared_ptr<BusyTime> sending)
    : owner_(owner),
      patience_(patience),
      target_(std::move(target)),
      compression_(target_->compression),
      sending_(std::move(sending)) {
  begin_use();
}

StreamSet::~StreamSet() {
  close();
}

void StreamSet::stop_use() {
  end_threads();
  owner_.failed("the process is exiting");
}

StreamSet::Line& StreamSet::add_line(LineId id) {
  const auto [entry, added] = lines_.emplace(id, std::make_unique<Line>(id));
  Line& line = *entry->second;
  if (added) {
    const NoSignals quiet;
    line.writer = std::thread([this, &line] { write(line); });
    line.reader = std::thread([this, &line] { read(line); });
  }
  return line;
}

void StreamSet::open(unsigned count, LineId first) {
  const std::lock_guard lock(mutex_);
  if (ended()) return;
  // Every line has two threads, so that a process with many nodes has fewer lines to each.
  const unsigned processors = std::max(std::thread::hardware_concurrency(), 1U);
  while (lines_.size() < count && (lines_.empty() || opened_lines.load() < kLinesPerProcessor * processors)) {
    opened_lines.fetch_add(1);
    LineId id = first + lines_.size();
    if (first == 0) {
      std::array<std::uint8_t, sizeof id> random{};
      fill_random(random);
      std::copy(random.begin(), random.end(), reinterpret_cast<std::uint8_t*>(&id));
    }
    add_line(id);
  }
}

bool StreamSet::accept(Fd socket, const StreamRequest& request, std::span<const std::uint8_t> secret) {
  std::uint64_t received = 0;
  Line* line = nullptr;
  {
    Lock lock(mutex_);
    if (ended()) return false;
    if (!lines_.contains(request.line) && lines_.size() >= kMaxLines)
      throw DecodeError("more than " + std::to_string(kMaxLines) + " connections for large transfers");
    line = &add_line(request.line);
    if (request.attempt <= line->attempt) return false;
    line->attempt = request.attempt;
    if (line->stream) {
      std::exchange(line->stream, nullptr)->shut();
      choose_lines();
    }
    wake_writers();
    await_reader(*line, lock);
    received = line->received;
  }
  try {
    auto stream = make_stream(answer_dial(std::move(socket), request, secret, received), request.content,
                              StreamEnd::Accepting);
    std::vector<PeerData> done;
    const std::lock_guard lock(mutex_);
    if (!ended()) done = install(*line, std::move(stream), request.received);
  } catch (const StreamBroken&) {
    return false;
  }
  return true;
}

void StreamSet::send(PeerData&& part) {
  {
    const std::lock_guard lock(mutex_);
    if (ended()) return;
    queue_.push_back(std::move(part));
  }
  work_.notify_one();
}

bool StreamSet::busy() {
  const std::lock_guard lock(mutex_);
  return !queue_.empty();
}

StreamSet::Traffic StreamSet::traffic() {
  const std::lock_guard lock(mutex_);
  Traffic traffic = traffic_;
  traffic.sending = sending_->total();
  traffic.receiving = receiving_.total();
  return traffic;
}

void StreamSet::note_use(Line& line) {
  if (!std::exchange(line.used, true)) ++traffic_.lines;
}

void StreamSet::end_threads() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    shut_all();
  }
  for (auto& [id, line] : lines_) {
    if (line->writer.joinable()) line->writer.join();
    if (line->reader.joinable()) line->reader.join();
    // The last one of the process ends UCX's thread.
    line->stream.reset();
  }
}

void StreamSet::close() {
  end_use();
  end_threads();
  if (target_) opened_lines.fetch_sub(static_cast<unsigned>(lines_.size()));
  for (const auto& [id, line] : lines_)
    for (std::size_t i = 0; i < line->kept.size(); ++i) sending_->end();
  lines_.clear();
  queue_.clear();
}

void StreamSet::write(Line& line) {
  while (const auto stream = connection(line)) {
    try {
      while (send_next(line, stream)) {
      }
    } catch (const std::exception&) {
      end_failed(line, stream);
    }
  }
}

void StreamSet::end_failed(Line& line, const std::shared_ptr<Stream>& stream) {
  try {
    throw;
  } catch (const StreamBroken& error) {
    drop(line, stream, error.what());
  } catch (const UcxError& error) {
    drop_fruitless(line, stream, error.what());
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

bool StreamSet::takes_part(const Line& line) const {
  return line.rank < count_.count();
}

void StreamSet::await_work(Line& line, const std::shared_ptr<Stream>& stream, Lock& lock) {
  const auto wanted = [&] {
    return ended() || line.stream != stream || line.owes || stream->has_rest() ||
           line.next < line.kept.size() || (!queue_.empty() && takes_part(line));
  };
  while (!wanted()) {
    if (takes_part(line)) count_.note_idle();
    std::condition_variable& reason = takes_part(line) ? work_ : aside_;
    if (line.kept.empty())
      reason.wait(lock);
    else
      reason.wait_for(lock, kStallCheck);
    if (!wanted() && !line.kept.empty() && Clock::now() - line.progress > kStreamPatience)
      throw StreamBroken("what was sent is not acknowledged");
  }
}

Delivery StreamSet::choose_lines() {
  unsigned lines = 0;
  Delivery all;
  auto shortest = std::chrono::microseconds::max();
  for (const auto& [id, line] : lines_) {
    if (!line->stream) continue;
    line->rank = lines++;
    const Delivery delivery = line->stream->delivery().value_or(Delivery{});
    all.acknowledged += delivery.acknowledged;
    all.repeated += delivery.repeated;
    all.busy += delivery.busy;
    all.held += delivery.held;
    shortest = std::min(shortest, delivery.round_trip);
  }
  if (lines > 0) count_.set_way(lines, shortest);
  return all;
}

void StreamSet::measure_lines() {
  const auto now = Clock::now();
  if (!count_.due(now)) return;
  const unsigned before = count_.count();
  count_.measure(now, choose_lines());
  if (count_.count() != before) wake_writers();
}

void StreamSet::wake_writers() {
  work_.notify_all();
  aside_.notify_all();
}

bool StreamSet::send_next(Line& line, const std::shared_ptr<Stream>& stream) {
  std::optional<PeerData> part;
  std::optional<std::uint64_t> received;
  {
    Lock lock(mutex_);
    await_work(line, stream, lock);
    if (ended() || line.stream != stream) return false;
    if (line.kept.empty()) line.progress = Clock::now();
    if (std::exchange(line.owes, false)) received = line.received;
    if (line.next == line.kept.size() && !queue_.empty() && takes_part(line)) {
      measure_lines();
      line.kept.push_back(std::move(queue_.front()));
      queue_.pop_front();
      ++line.taken;
      sending_->begin();
    }
    if (line.next < line.kept.size()) {
      part = line.kept[line.next++];
      traffic_.sent += part->data.bytes.size();
      if (!part->data.bytes.empty()) note_use(line);
    }
  }
  if (received) stream->send(RecordHeader::received(*received), {});
  if (!part) {
    stream->flush();
    return true;
  }
  const RecordHeader header = RecordHeader::of(*part);
  Packer::Packed packed;
  if (compression_ != Compression::None) {
    constexpr double kSlowest = 1;
    const bool always = compression_ == Compression::Always;
    packed = line.packer.pack(part->data.bytes, always ? kSlowest : stream->rate());
  }
  if (packed.bytes.empty())
    stream->send(header, part->data.bytes);
  else
    stream->send(header.packed(packed.packing, packed.bytes.size()), packed.bytes);
  if (patience_ > 0ms) return true;
  // No connection follows this one, so nothing is sent again, or acknowledged.
  std::vector<PeerData> done;
  const std::lock_guard lock(mutex_);
  done = received_there(line, line.taken);
  return true;
}

std::shared_ptr<Stream> StreamSet::connection(Line& line) {
  Lock lock(mutex_);
  const auto since = Clock::now();
  for (;;) {
    if (ended()) return nullptr;
    if (line.stream) return line.stream;
    if (!target_) {
      changed_.wait(lock);
      continue;
    }
    const std::string why = dial(line, lock);
    if (why.empty() || ended()) continue;
    const auto patience =
        line.connected ? patience_ : std::max<std::chrono::milliseconds>(patience_, kFirstConnection);
    if (Clock::now() - since > patience) {
      lock.unlock();
      fail("a connection for large transfers could not be made within " +
           std::to_string(std::chrono::duration_cast<std::chrono::seconds>(patience).count()) + " s: " + why);
      return nullptr;
    }
    changed_.wait_for(lock, kPause, [this] { return ended(); });
  }
}

std::string StreamSet::dial(Line& line, Lock& lock) {
  await_reader(line, lock);
  StreamRequest request;
  request.line = line.id;
  request.attempt = ++line.attempt;
  request.received = line.received;
  if (target_->ucx) request.content = StreamRequest::Content::UcxParts;
  const auto stop = [this] {
    const std::lock_guard look(mutex_);
    return ended();
  };
  lock.unlock();
  std::string why;
  std::vector<PeerData> done;
  try {
    Dialled dialled = protocol::dial(*target_, request, stop);
    const std::uint64_t received = dialled.received;
    auto stream = make_stream(std::move(dialled), request.content, StreamEnd::Connecting);
    lock.lock();
    if (!ended()) done = install(line, std::move(stream), received);
    lock.unlock();
  } catch (const StreamBroken& error) {
    why = error.what();
  } catch (const std::exception& error) {
    if (lock.owns_lock()) lock.unlock();
    fail(error.what());
  }
  done.clear();
  lock.lock();
  return why;
}

void StreamSet::read(Line& line) {
  Scratch scratch;
  for (;;) {
    std::shared_ptr<Stream> stream;
    {
      Lock lock(mutex_);
      changed_.wait(lock, [&] { return ended() || line.stream; });
      if (ended()) return;
      stream = line.stream;
      line.receiving = true;
    }
    try {
      for (;;) receive_one(line, *stream, scratch);
    } catch (const std::exception&) {
      end_failed(line, stream);
    }
    {
      const std::lock_guard lock(mutex_);
      line.receiving = false;
    }
    changed_.notify_all();
  }
}

void StreamSet::receive_one(Line& line, Stream& stream, Scratch& scratch) {
  const RecordHeader header = stream.receive_header();
  if (header.kind == RecordHeader::Kind::Part) {
    take_part(line, stream, header, scratch);
    return;
  }
  if (header.kind != RecordHeader::Kind::Received)
    throw DecodeError("a message on a connection for large transfers");
  stream.receive_payload(header, nullptr);
  std::vector<PeerData> done;
  const std::lock_guard lock(mutex_);
  line.fruitless = 0;
  done = received_there(line, header.transfer);
}

void StreamSet::take_part(Line& line, Stream& stream, const RecordHeader& header, Scratch& scratch) {
  const auto room = [](std::vector<std::byte>& memory, std::size_t size) {
    if (memory.size() < size) memory.resize(size);
    return memory.data();
  };
  const RecordHeader part = header.unpacked();
  std::shared_ptr<std::byte> memory;
  std::byte* to = nullptr;
  {
    const BusyTime::Span arriving(receiving_);
    const bool is_packed = header.packing != RecordHeader::Packing::None;
    if (is_packed) stream.receive_payload(header, room(scratch.packed, header.size));
    const bool exposed = owner_.exposes_memory();
    // A compressed part is authentic before its content is written.
    if (part.size > 0 && (is_packed || !exposed || stream.can_verify_first())) memory = owner_.place(part);
    to = memory.get();
    if (to == nullptr && part.size > 0) to = room(scratch.content, part.size);
    if (is_packed)
      unpack(header.packing, std::span(scratch.packed).first(header.size), {to, part.size});
    else if (memory && exposed)
      stream.receive_verified(header, to);
    else
      stream.receive_payload(header, to);
  }
  bool due = false;
  {
    const std::lock_guard lock(mutex_);
    ++line.received;
    line.fruitless = 0;
    traffic_.received += part.size;
    if (part.size > 0) note_use(line);
    line.unacknowledged += RecordHeader::kBytes + part.size;
    due = line.unacknowledged >= kBytesToAcknowledge;
    if (due) line.unacknowledged = 0;
  }
  owner_.arrived({part.transfer, part.offset, part.status, {{to, part.size}, std::move(memory)}});
  // Small parts are acknowledged together, but before this thread waits for more.
  if (!due && !stream.more()) {
    const std::lock_guard lock(mutex_);
    line.unacknowledged = 0;
    due = true;
  }
  if (due) acknowledge(line, stream);
}

void StreamSet::acknowledge(Line& line, Stream& stream) {
  std::uint64_t received = 0;
  {
    const std::lock_guard lock(mutex_);
    received = line.received;
  }
  const bool sent = stream.try_send(RecordHeader::received(received));
  if (sent && !stream.has_rest()) return;
  {
    const std::lock_guard lock(mutex_);
    line.owes = line.owes || !sent;
  }
  wake_writers();
}

std::vector<PeerData> StreamSet::install(Line& line, std::shared_ptr<Stream> stream, std::uint64_t received) {
  std::vector<PeerData> done = received_there(line, received);
  if (line.taken - line.kept.size() != received)
    throw DecodeError("a line for large transfers resumes after part " + std::to_string(received) +
                      ", before parts that were acknowledged");
  line.stream = std::move(stream);
  line.connected = true;
  line.next = 0;
  line.owes = false;
  choose_lines();
  changed_.notify_all();
  wake_writers();
  return done;
}

std::vector<PeerData> StreamSet::received_there(Line& line, std::uint64_t parts) {
  if (parts > line.taken)
    throw DecodeError("an acknowledgement of " + std::to_string(parts) + " parts, of which only " +
                      std::to_string(line.taken) + " were sent");
  std::vector<PeerData> done;
  line.progress = Clock::now();
  while (!line.kept.empty() && line.taken - line.kept.size() < parts) {
    done.push_back(std::move(line.kept.front()));
    line.kept.pop_front();
    sending_->end();
    if (line.next > 0) --line.next;
  }
  return done;
}

void StreamSet::await_reader(Line& line, Lock& lock) {
  changed_.wait(lock, [&] { return ended() || !line.receiving; });
}

void StreamSet::shut_all() {
  for (auto& [id, line] : lines_)
    if (line->stream) line->stream->shut();
  wake_writers();
  changed_.notify_all();
}

void StreamSet::drop(Line& line, const std::shared_ptr<Stream>& stream, const std::string& why) {
  stream->shut();
  {
    const std::lock_guard lock(mutex_);
    if (ended() || line.stream != stream) return;
    line.stream.reset();
    choose_lines();
    wake_writers();
    changed_.notify_all();
  }
  if (patience_ == 0ms) fail("a connection for large transfers ended: " + why);
}

void StreamSet::drop_fruitless(Line& line, const std::shared_ptr<Stream>& stream, const std::string& why) {
  bool last = false;
  {
    const std::lock_guard lock(mutex_);
    last = line.stream == stream && ++line.fruitless == kFruitlessConnections;
  }
  if (last)
    fail(why);
  else
    drop(line, stream, why);
}

void StreamSet::fail(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (ended()) return;
    failed_ = true;
    shut_all();
  }
  owner_.failed(reason);
}

}  // namespace clique::protocol
