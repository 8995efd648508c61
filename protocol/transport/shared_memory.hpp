// Memory that a worker shares with its client, or with another worker, of the same user on the same host. It
// carries the same batches as the sockets do: without a system call while both sides are awake, and payloads
// without a copy by the system.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "protocol/fd.hpp"
#include "protocol/transport/free_ranges.hpp"
#include "protocol/transport/shared_segment.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::protocol {

/// One side's view of the memory. For each direction there are a *ring*, in which batches follow each other,
/// an *arena*, in which the sender places payloads, and a *doorbell* that wakes a receiver that sleeps. The
/// sender alone decides what is where in its arena; the receiver gives each payload back when it has done
/// with it. What the other side writes is trusted no more than what comes from a socket, except that it may
/// change payloads while they are read.
///
/// One thread at a time may send, and one receive. What is not used costs no memory.
class SharedMemory : public std::enable_shared_from_this<SharedMemory> {
 public:
  /// Bytes of a ring; the largest batch, payloads aside, is half of it.
  static constexpr std::size_t kRing = 1U << 20U;
  /// Bytes of an arena: enough for the stages of a transfer to overlap, small enough to stay in a processor's
  /// cache.
  static constexpr std::size_t kArena = 32U << 20U;
  /// Payloads that the receiver may have at a time.
  static constexpr std::size_t kLoans = 1024;

  /// The worker made the memory; its client, or another worker, is its guest.
  enum class Side : std::uint8_t { Guest = 0, Worker = 1 };
  enum class Sent : std::uint8_t {
    Yes,
    RingFull,   ///< the receiver is behind; try again
    ArenaFull,  ///< it has payloads that it may keep for any time
    TooLarge,   ///< for this memory at any time
  };
  enum class Received : std::uint8_t {
    Nothing,
    Batch,
    Elsewhere,  ///< the next batch comes, or has come, through the socket
  };
  /// Copies `size` bytes.
  using Copy = void (*)(std::byte* to, const std::byte* from, std::size_t size);
  /// memcpy.
  static void plain_copy(std::byte* to, const std::byte* from, std::size_t size);

  /// New memory, the worker's side. Throws std::system_error.
  static std::shared_ptr<SharedMemory> create();
  /// The guest's side of what a worker made. Throws std::system_error, and DecodeError for other memory.
  static std::shared_ptr<SharedMemory> open(Fd memory, Fd guest_doorbell, Fd worker_doorbell);
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// What open() takes on the other side: the memory, the guest's doorbell, the worker's.
  std::array<int, 3> descriptors() const;

  /// The arena for what this side sends, and the one for what it receives.
  std::span<std::byte> outgoing() const { return arena(side_); }
  std::span<std::byte> incoming() const { return arena(other_); }
  static bool inside(std::span<const std::byte> arena, std::span<const std::byte> bytes);

  /// A block in the outgoing arena, given back when its last owner lets go of it; a payload in it is not
  /// copied by try_send(). Null where there is no room. Any thread.
  std::shared_ptr<std::byte> take(std::size_t size);
  /// Sends the batch and clears it. Where it cannot be sent now it stays, and may have been copied into the
  /// arena in part. Payloads are let go of where they were copied.
  Sent try_send(Batch& batch, Copy copy = plain_copy);
  /// Tells the receiver that the next batch comes through the socket. @returns false where the ring is full.
  bool try_send_elsewhere();
  /// Lets go of what the receiver has given back. Any thread. @returns whether it still has anything.
  bool collect();
  /// Before the sender sleeps: its doorbell is to ring when the receiver gives something back. Any thread.
  /// @returns false where something has been given back already.
  bool arm_for_returns();
  /// The receiver is gone: all that was sent is let go of.
  void forget_loans();

  /// Takes the next batch. Throws DecodeError.
  Received receive(Incoming& incoming);
  /// Readable when something has come since arm() returned true.
  int doorbell() const { return doorbells_[side_].get(); }
  /// Before sleeping. Any thread. @returns false where there is something to receive.
  bool arm();
  /// After sleeping: makes the doorbell silent.
  void hush();

 private:
  struct Lane;
  struct Entry;
  struct Loan {
    std::uint32_t number;
    std::shared_ptr<const void> owner;
  };

  SharedMemory(Side side, std::shared_ptr<SharedSegment> memory, std::array<Fd, 2> doorbells, bool fresh);
  Lane& lane(std::size_t to) const;
  std::byte* ring(std::size_t from) const;
  std::span<std::byte> arena(std::size_t from) const;

  bool place(Batch& batch, Copy copy);
  /// @returns whether there is room for an entry of `size` bytes in the ring.
  bool room(std::size_t size) const;
  void put(std::uint64_t at, std::span<const std::byte> bytes) const;
  void get(std::uint64_t at, std::span<std::byte> bytes) const;
  void publish(std::size_t size);
  /// Wakes the other side if it has said, in `sleeping`, that it sleeps.
  void ring(std::atomic<std::uint32_t>& sleeping) const;
  void returned(std::uint32_t loan);

  const std::size_t side_;
  const std::size_t other_;
  const std::shared_ptr<SharedSegment> memory_;
  const std::array<Fd, 2> doorbells_;  // whom each one wakes, by side
  std::byte* const base_;

  std::uint64_t written_ = 0;  // the sender's
  std::uint64_t read_ = 0;     // the receiver's
  std::atomic<bool> armed_ = false;

  std::mutex mutex_;         // guards what follows
  FreeRanges free_{kArena};  // of the outgoing arena
  std::vector<Loan> loans_;
  std::vector<std::uint32_t> free_loans_;
};

}  // namespace clique::protocol
