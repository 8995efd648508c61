// Memory that a worker shares with its client, or with another worker, if both run as the same user on the
// same host. It carries the same batches as the sockets do, without system calls while both sides are awake,
// and without copies of payloads by the system.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
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

/// One side's view of the memory. Each direction has a *ring*, in which batches follow each other, an
/// *arena*, in which the sender places payloads, and a *doorbell*, which wakes a sleeping receiver. The
/// sender alone decides where payloads are in its arena; the receiver gives each one back when it does not
/// need it any more. What the other side writes is trusted no more than data from a socket; in addition, the
/// other side may change payloads while they are read.
///
/// One thread at a time may send, and one receive. Unused parts of the memory cost nothing.
class SharedMemory : public std::enable_shared_from_this<SharedMemory> {
 public:
  /// Bytes of a ring; the largest batch, not counting payloads, is half of it.
  static constexpr std::size_t kRing = 1U << 20U;
  /// Bytes of an arena: large enough for the stages of a transfer to overlap, small enough to stay in a
  /// processor's cache.
  static constexpr std::size_t kArena = 32U << 20U;
  /// Payloads that the receiver may hold at a time.
  static constexpr std::size_t kLoans = 1024;

  /// The worker creates the memory; the client, or another worker, is the guest.
  enum class Side : std::uint8_t { Guest = 0, Worker = 1 };
  enum class Sent : std::uint8_t {
    Yes,
    RingFull,   ///< the receiver is behind; try again
    ArenaFull,  ///< the receiver holds payloads, and may do so for any time
    TooLarge,   ///< the batch never fits this memory
  };
  enum class Received : std::uint8_t {
    Nothing,
    Batch,
    Elsewhere,  ///< the next batch arrives, or has arrived, through the socket
  };
  /// Copies `size` bytes.
  using Copy = void (*)(std::byte* to, const std::byte* from, std::size_t size);
  /// memcpy.
  static void plain_copy(std::byte* to, const std::byte* from, std::size_t size);

  /// New memory, the worker's side. Throws std::system_error.
  static std::shared_ptr<SharedMemory> create();
  /// The guest's side of memory that a worker created. Throws std::system_error, and DecodeError if it is not
  /// such memory.
  static std::shared_ptr<SharedMemory> open(Fd memory, Fd guest_doorbell, Fd worker_doorbell);
  /// The same in memory that a virtual machine and its host share. Neither side can wake the other there, so
  /// the doorbells are timers: a side that sleeps looks again after a sixteenth of the time for which nothing
  /// has happened, kShortestNap at least and kLongestNap at most. Other processes can write there without
  /// rules. create_in() overwrites what was there before.
  /// @param region kBytes
  static std::shared_ptr<SharedMemory> create_in(std::shared_ptr<SharedSegment> region);
  /// Throws std::system_error, and DecodeError if the worker has not called create_in() yet.
  static std::shared_ptr<SharedMemory> open_in(std::shared_ptr<SharedSegment> region);
  /// Of the memory with everything in it: a multiple of the sizes of pages.
  static const std::size_t kBytes;
  static constexpr std::chrono::microseconds kShortestNap{50};
  static constexpr std::chrono::microseconds kLongestNap{5000};

  /// The guest uses the memory: to be called before it attaches.
  void take_possession();
  /// Whether the guest has said so. The worker's side.
  bool possessed() const;

  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// The descriptors that open() takes on the other side: the memory, the guest's doorbell, the worker's.
  std::array<int, 3> descriptors() const;

  /// The arena of payloads that this side sends, and of those that it receives.
  std::span<std::byte> outgoing() const { return arena(side_); }
  std::span<std::byte> incoming() const { return arena(other_); }
  static bool inside(std::span<const std::byte> arena, std::span<const std::byte> bytes);

  /// A block in the outgoing arena, freed when its last owner releases it. try_send() does not copy a payload
  /// that is in such a block. @returns null if there is no room. Thread-safe.
  std::shared_ptr<std::byte> take(std::size_t size);
  /// Sends the batch and clears it. A batch that cannot be sent now stays, though some of its payloads may
  /// have been copied into the arena. Owners of copied payloads are released.
  Sent try_send(Batch& batch, Copy copy = plain_copy);
  /// Announces that the next batch arrives through the socket. @returns false if the ring is full.
  bool try_send_elsewhere();
  /// Releases the payloads that the receiver has given back. Thread-safe. @returns whether it still holds
  /// any.
  bool collect();
  /// To be called before the sender sleeps: the receiver then rings the sender's doorbell when it gives a
  /// payload back. Thread-safe. @returns false if it has given one back already.
  bool arm_for_returns();
  /// The receiver is gone: releases all payloads that were sent.
  void forget_loans();

  /// Takes the next batch. Throws DecodeError.
  Received receive(Incoming& incoming);
  /// Whether something of at most `most` bytes, without the payloads, can be received now. The sender may
  /// lie.
  bool follows(std::size_t most) const;
  /// A file descriptor that is readable if something has arrived since arm() returned true.
  int doorbell() const { return doorbells_[side_].get(); }
  /// To be called before sleeping. Thread-safe. @returns false if there is something to receive.
  bool arm();
  /// To be called after sleeping: resets the doorbell.
  void hush();

 private:
  struct Lane;
  struct Entry;
  struct Loan {
    std::uint32_t number;
    std::shared_ptr<const void> owner;
  };

  SharedMemory(Side side, std::shared_ptr<SharedSegment> memory, std::array<Fd, 2> doorbells, bool fresh);
  /// Without a doorbell of the other side's: has the own one ring some time later.
  void set_timer() const;
  /// Something has happened: naps are short again.
  void note_life();
  Lane& lane(std::size_t to) const;
  std::byte* ring(std::size_t from) const;
  std::span<std::byte> arena(std::size_t from) const;

  bool place(Batch& batch, Copy copy);
  /// @returns whether the ring has room for an entry of `size` bytes.
  bool room(std::size_t size) const;
  void put(std::uint64_t at, std::span<const std::byte> bytes) const;
  void get(std::uint64_t at, std::span<std::byte> bytes) const;
  void publish(std::size_t size);
  /// Wakes the other side if `sleeping` says that it sleeps.
  void ring(std::atomic<std::uint32_t>& sleeping) const;
  void returned(std::uint32_t loan);

  const std::size_t side_;
  const std::size_t other_;
  const std::shared_ptr<SharedSegment> memory_;
  const std::array<Fd, 2>
      doorbells_;  // by the side that they wake; this one's is a timer if the other is empty
  std::byte* const base_;

  std::uint64_t written_ = 0;  // the sender's position
  std::uint64_t read_ = 0;     // the receiver's position
  std::atomic<bool> armed_ = false;
  std::atomic<std::chrono::steady_clock::rep> lively_ = 0;  // when something last happened

  std::mutex mutex_;         // guards the members below
  FreeRanges free_{kArena};  // of the outgoing arena
  std::vector<Loan> loans_;
  std::vector<std::uint32_t> free_loans_;
};

}  // namespace clique::protocol
