#include "protocol/transport/shared_memory.hpp"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <system_error>

#include "protocol/throw_errno.hpp"

namespace clique::protocol {

namespace {

/// "clique" and the version of the layout.
constexpr std::uint64_t kLaneMagic = 0x6575'7169'6c63'0001;
/// Blocks share no cache lines.
constexpr std::size_t kAlignment = 256;
constexpr std::size_t kEntryAlignment = 8;

constexpr std::size_t rounded(std::size_t size, std::size_t to) {
  return (size + to - 1) / to * to;
}

/// A doorbell that the other side has made, and that must not make this side wait.
Fd without_waiting(Fd doorbell) {
  const int flags = ::fcntl(doorbell.get(), F_GETFL);
  if (flags < 0 || ::fcntl(doorbell.get(), F_SETFL, flags | O_NONBLOCK) != 0) throw_errno("fcntl");
  return doorbell;
}

}  // namespace

/// The state of one direction that both sides read.
// The padding is intended: a write of one member must not slow down reads of another.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct SharedMemory::Lane {
  std::atomic<std::uint64_t> magic;
  std::atomic<std::uint32_t> possessed;             ///< in memory of virtual machines: the guest uses it
  alignas(64) std::atomic<std::uint64_t> written;   ///< bytes that have ever entered the ring
  alignas(64) std::atomic<std::uint64_t> read;      ///< bytes that have ever left it
  alignas(64) std::atomic<std::uint32_t> sleeping;  ///< the receiver sleeps: ring its doorbell
  alignas(64)
      std::atomic<std::uint32_t> sender_sleeping;  ///< the sender sleeps: ring when a payload is given back
  alignas(64)
      std::array<std::atomic<std::uint32_t>, kLoans> lent;  ///< not 0 while the receiver holds the payload
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// A batch in the ring: this header, then the places of its payloads, then its records.
struct SharedMemory::Entry {
  struct Place {
    std::uint32_t loan;
    std::uint32_t size;
    std::uint64_t offset;
  };
  std::uint32_t records;   ///< bytes
  std::uint32_t payloads;  ///< kElsewhere: nothing follows, see Received::Elsewhere

  static constexpr std::uint32_t kElsewhere = ~std::uint32_t{0};
  static std::size_t bytes(std::size_t records, std::size_t payloads) {
    return rounded(sizeof(Entry) + payloads * sizeof(Place) + records, kEntryAlignment);
  }
};

namespace {
constexpr std::size_t kLane = 16U << 10U;
constexpr std::size_t kRings = 2 * kLane;
constexpr std::size_t kArenas = kRings + 2 * SharedMemory::kRing;
constexpr std::size_t kTotal = kArenas + 2 * SharedMemory::kArena;
/// Regions begin at multiples of this: huge pages of hosts.
constexpr std::size_t kRegionAlignment = 2U << 20U;
/// A side sleeps for this part of the time for which nothing has happened.
constexpr int kNapPart = 16;

std::array<Fd, 2> timer_for(std::size_t side) {
  std::array<Fd, 2> doorbells;
  doorbells[side] = Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!doorbells[side]) throw_errno("timerfd_create");
  return doorbells;
}
}  // namespace

const std::size_t SharedMemory::kBytes = rounded(kTotal, kRegionAlignment);

std::shared_ptr<SharedMemory> SharedMemory::create() {
  auto memory = SharedSegment::create(kTotal);
  std::array<Fd, 2> doorbells{Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
                              Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))};
  if (!doorbells[0] || !doorbells[1]) throw_errno("eventfd");
  return std::shared_ptr<SharedMemory>(
      new SharedMemory(Side::Worker, std::move(memory), std::move(doorbells), true));
}

std::shared_ptr<SharedMemory> SharedMemory::open(Fd memory, Fd guest_doorbell, Fd worker_doorbell) {
  return std::shared_ptr<SharedMemory>(new SharedMemory(
      Side::Guest, SharedSegment::open(std::move(memory), kTotal),
      {without_waiting(std::move(guest_doorbell)), without_waiting(std::move(worker_doorbell))}, false));
}

std::shared_ptr<SharedMemory> SharedMemory::create_in(std::shared_ptr<SharedSegment> region) {
  if (region->bytes().size() != kBytes) throw DecodeError("a region for a session has another size");
  return std::shared_ptr<SharedMemory>(new SharedMemory(
      Side::Worker, std::move(region), timer_for(static_cast<std::size_t>(Side::Worker)), true));
}

std::shared_ptr<SharedMemory> SharedMemory::open_in(std::shared_ptr<SharedSegment> region) {
  if (region->bytes().size() != kBytes) throw DecodeError("a region for a session has another size");
  return std::shared_ptr<SharedMemory>(new SharedMemory(
      Side::Guest, std::move(region), timer_for(static_cast<std::size_t>(Side::Guest)), false));
}

void SharedMemory::take_possession() {
  lane(other_).possessed.store(1, std::memory_order_seq_cst);
}

bool SharedMemory::possessed() const {
  return lane(side_).possessed.load(std::memory_order_seq_cst) != 0;
}

void SharedMemory::note_life() {
  if (!doorbells_[other_])
    lively_.store(std::chrono::steady_clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

void SharedMemory::set_timer() const {
  if (doorbells_[other_]) return;
  const auto quiet = std::chrono::steady_clock::now().time_since_epoch() -
                     std::chrono::steady_clock::duration(lively_.load(std::memory_order_relaxed));
  const auto nap = std::clamp<std::chrono::nanoseconds>(quiet / kNapPart, kShortestNap, kLongestNap);
  itimerspec time{};
  time.it_value.tv_nsec = nap.count();
  if (::timerfd_settime(doorbells_[side_].get(), 0, &time, nullptr) != 0) throw_errno("timerfd_settime");
}

SharedMemory::SharedMemory(Side side, std::shared_ptr<SharedSegment> memory, std::array<Fd, 2> doorbells,
                           bool fresh)
    : side_(static_cast<std::size_t>(side)),
      other_(1 - side_),
      memory_(std::move(memory)),
      doorbells_(std::move(doorbells)),
      base_(memory_->bytes().data()) {
  static_assert(sizeof(Lane) <= kLane);
  for (const std::size_t to : {side_, other_}) {
    if (fresh) (new (base_ + to * kLane) Lane{})->magic.store(kLaneMagic, std::memory_order_release);
    if (lane(to).magic.load(std::memory_order_acquire) != kLaneMagic)
      throw DecodeError("the shared memory has the layout of another release of Clique");
  }
  free_loans_.reserve(kLoans);
  for (std::uint32_t number = kLoans; number > 0; --number) free_loans_.push_back(number - 1);
}

std::array<int, 3> SharedMemory::descriptors() const {
  return {memory_->descriptor(), doorbells_[0].get(), doorbells_[1].get()};
}

SharedMemory::Lane& SharedMemory::lane(std::size_t to) const {
  return *reinterpret_cast<Lane*>(base_ + to * kLane);
}

std::byte* SharedMemory::ring(std::size_t from) const {
  return base_ + kRings + from * kRing;
}

std::span<std::byte> SharedMemory::arena(std::size_t from) const {
  return {base_ + kArenas + from * kArena, kArena};
}

bool SharedMemory::inside(std::span<const std::byte> arena, std::span<const std::byte> bytes) {
  return std::less_equal<>()(arena.data(), bytes.data()) &&
         std::less_equal<>()(bytes.data() + bytes.size(), arena.data() + arena.size());
}

// ---------------------------------------------------------------------------------------------------------------
// Sending.

std::shared_ptr<std::byte> SharedMemory::take(std::size_t size) {
  const std::size_t bytes = rounded(std::max<std::size_t>(size, 1), kAlignment);
  collect();
  std::optional<std::size_t> place;
  {
    const std::lock_guard lock(mutex_);
    place = free_.take(bytes);
  }
  if (!place) return nullptr;
  return {outgoing().data() + *place, [self = shared_from_this(), offset = *place, bytes](std::byte*) {
            const std::lock_guard lock(self->mutex_);
            self->free_.give_back(offset, bytes);
          }};
}

bool SharedMemory::collect() {
  std::vector<std::shared_ptr<const void>> owners;  // released after the lock, which freeing blocks takes
  const std::lock_guard lock(mutex_);
  auto& lent = lane(other_).lent;
  std::erase_if(loans_, [&](Loan& loan) {
    if (lent[loan.number].load(std::memory_order_acquire) != 0) return false;
    owners.push_back(std::move(loan.owner));
    free_loans_.push_back(loan.number);
    return true;
  });
  return !loans_.empty();
}

bool SharedMemory::arm_for_returns() {
  Lane& to = lane(other_);
  armed_.store(true, std::memory_order_relaxed);
  to.sender_sleeping.store(1, std::memory_order_seq_cst);
  set_timer();
  const std::lock_guard lock(mutex_);
  return std::all_of(loans_.begin(), loans_.end(), [&](const Loan& loan) {
    return to.lent[loan.number].load(std::memory_order_seq_cst) != 0;
  });
}

void SharedMemory::forget_loans() {
  std::vector<Loan> gone;  // released after the lock, as in collect()
  const std::lock_guard lock(mutex_);
  gone.swap(loans_);
}

void SharedMemory::plain_copy(std::byte* to, const std::byte* from, std::size_t size) {
  std::memcpy(to, from, size);
}

bool SharedMemory::place(Batch& batch, Copy copy) {
  for (Payload& payload : batch.payloads()) {
    if (inside(outgoing(), payload.bytes) && payload.owner) continue;
    auto block = take(payload.bytes.size());
    if (!block) return false;
    copy(block.get(), payload.bytes.data(), payload.bytes.size());
    payload.bytes = {block.get(), payload.bytes.size()};
    payload.owner = std::move(block);
  }
  return true;
}

bool SharedMemory::room(std::size_t size) const {
  const std::uint64_t under_way = written_ - lane(other_).read.load(std::memory_order_acquire);
  if (under_way > kRing) throw DecodeError("the read position of the shared ring is invalid");
  return size <= kRing - under_way;
}

void SharedMemory::put(std::uint64_t at, std::span<const std::byte> bytes) const {
  const std::size_t begin = at % kRing;
  const std::size_t first = std::min(bytes.size(), kRing - begin);
  if (first > 0) std::memcpy(ring(side_) + begin, bytes.data(), first);
  if (bytes.size() > first) std::memcpy(ring(side_), bytes.data() + first, bytes.size() - first);
}

void SharedMemory::publish(std::size_t size) {
  Lane& to = lane(other_);
  written_ += size;
  note_life();
  // Sequentially consistent with the receiver's arm(): either arm() sees this batch, or this thread sees that
  // the receiver sleeps.
  to.written.store(written_, std::memory_order_seq_cst);
  ring(to.sleeping);
}

void SharedMemory::ring(std::atomic<std::uint32_t>& sleeping) const {
  if (!doorbells_[other_] || sleeping.load(std::memory_order_seq_cst) == 0 || sleeping.exchange(0) == 0)
    return;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto rung = ::write(doorbells_[other_].get(), &one, sizeof one);
}

SharedMemory::Sent SharedMemory::try_send(Batch& batch, Copy copy) {
  auto& payloads = batch.payloads();
  const std::size_t size = Entry::bytes(batch.size(), payloads.size());
  if (size > kRing / 2 || payloads.size() > kLoans) return Sent::TooLarge;
  if (!room(size)) return Sent::RingFull;
  std::vector<Entry::Place> places;
  if (!payloads.empty()) {
    if (!place(batch, copy)) return Sent::ArenaFull;
    const std::lock_guard lock(mutex_);
    if (free_loans_.size() < payloads.size()) return Sent::ArenaFull;
    places.reserve(payloads.size());
    for (Payload& payload : payloads) {
      const std::uint32_t number = free_loans_.back();
      free_loans_.pop_back();
      lane(other_).lent[number].store(1, std::memory_order_relaxed);
      places.push_back({number, static_cast<std::uint32_t>(payload.bytes.size()),
                        static_cast<std::uint64_t>(payload.bytes.data() - outgoing().data())});
      loans_.push_back({number, std::move(payload.owner)});
    }
  }
  const Entry entry{static_cast<std::uint32_t>(batch.size()), static_cast<std::uint32_t>(places.size())};
  std::uint64_t at = written_;
  const auto add = [&](std::span<const std::byte> bytes) {
    put(at, bytes);
    at += bytes.size();
  };
  add(std::as_bytes(std::span(&entry, 1)));
  add(std::as_bytes(std::span(places)));
  add(batch.records());
  publish(size);
  batch.clear();
  return Sent::Yes;
}

bool SharedMemory::try_send_elsewhere() {
  const Entry entry{0, Entry::kElsewhere};
  const std::size_t size = Entry::bytes(0, 0);
  if (!room(size)) return false;
  put(written_, std::as_bytes(std::span(&entry, 1)));
  publish(size);
  return true;
}

// ---------------------------------------------------------------------------------------------------------------
// Receiving.

void SharedMemory::get(std::uint64_t at, std::span<std::byte> bytes) const {
  const std::size_t begin = at % kRing;
  const std::size_t first = std::min(bytes.size(), kRing - begin);
  if (first > 0) std::memcpy(bytes.data(), ring(other_) + begin, first);
  if (bytes.size() > first) std::memcpy(bytes.data() + first, ring(other_), bytes.size() - first);
}

bool SharedMemory::follows(std::size_t most) const {
  const std::uint64_t available = lane(side_).written.load(std::memory_order_acquire) - read_;
  return available > 0 && available <= most;
}

SharedMemory::Received SharedMemory::receive(Incoming& incoming) {
  Lane& own = lane(side_);
  const std::uint64_t available = own.written.load(std::memory_order_acquire) - read_;
  if (available == 0) return Received::Nothing;
  if (available > kRing || available < sizeof(Entry))
    throw DecodeError("the write position of the shared ring is invalid");
  // Everything is copied before it is checked, so that the other side cannot change it afterwards.
  Entry entry{};
  get(read_, std::as_writable_bytes(std::span(&entry, 1)));
  const bool elsewhere = entry.payloads == Entry::kElsewhere;
  const std::size_t count = elsewhere ? 0 : entry.payloads;
  if (count > kLoans || entry.records > kRing)
    throw DecodeError("the header of an entry in the shared ring is invalid");
  const std::size_t size = Entry::bytes(entry.records, count);
  if (size > available) throw DecodeError("an entry in the shared ring is incomplete");

  incoming = {};
  if (!elsewhere) {
    std::vector<Entry::Place> places(count);
    get(read_ + sizeof(Entry), std::as_writable_bytes(std::span(places)));
    const auto records = std::make_shared_for_overwrite<std::byte[]>(entry.records);
    get(read_ + sizeof(Entry) + count * sizeof(Entry::Place), {records.get(), entry.records});
    incoming.records = {records.get(), entry.records};
    incoming.owner = records;
    incoming.frames.reserve(count);
    for (const Entry::Place& at : places) {
      if (at.loan >= kLoans || at.size > kArena || at.offset > kArena - at.size)
        throw DecodeError("a payload is outside of the shared arena");
      std::byte* const data = this->incoming().data() + at.offset;
      std::shared_ptr<const void> owner(
          data, [self = shared_from_this(), loan = at.loan](const void*) { self->returned(loan); });
      incoming.frames.push_back({{data, at.size}, std::move(owner)});
    }
  }
  read_ += size;
  note_life();
  own.read.store(read_, std::memory_order_release);
  return elsewhere ? Received::Elsewhere : Received::Batch;
}

void SharedMemory::returned(std::uint32_t loan) {
  Lane& own = lane(side_);
  own.lent[loan].store(0, std::memory_order_seq_cst);
  ring(own.sender_sleeping);
}

bool SharedMemory::arm() {
  Lane& own = lane(side_);
  armed_.store(true, std::memory_order_relaxed);
  own.sleeping.store(1, std::memory_order_seq_cst);
  set_timer();
  return own.written.load(std::memory_order_seq_cst) == own.read.load(std::memory_order_relaxed);
}

void SharedMemory::hush() {
  if (!armed_.exchange(false, std::memory_order_relaxed)) return;
  lane(side_).sleeping.store(0, std::memory_order_relaxed);
  lane(other_).sender_sleeping.store(0, std::memory_order_relaxed);
  std::uint64_t count = 0;
  [[maybe_unused]] const auto read = ::read(doorbell(), &count, sizeof count);
}

}  // namespace clique::protocol
