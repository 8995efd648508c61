// How a worker and its client, or two workers, find out that they are on one host, and then share memory.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/ids.hpp"
#include "protocol/transport/shared_memory.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::protocol {

/// Which process takes an offer. The client connects again for each segment that it shares.
enum class Guest : char { Client = 'c', Peer = 'p', Segment = 's' };

/// A worker's shared-memory offer: a UNIX socket with an abstract name that cannot be guessed. A process of
/// the same user that connects and presents the session's token gets memory: the client the memory that was
/// created with the offer, once; each other worker memory of its own. Not thread-safe.
class SharedOffer {
 public:
  /// Throws std::system_error.
  SharedOffer();

  /// Largest number of workers that get memory.
  static constexpr unsigned kMostPeers = 256;

  /// A segment that a client shares. It waits for answer().
  struct Segment {
    std::shared_ptr<SharedSegment> memory;
    ObjectId id = 0;
    std::uint64_t address = 0;  ///< where the client wants it to be mapped; 0: anywhere
    Fd client;
  };
  struct Taken {
    Guest guest;
    std::shared_ptr<SharedMemory> memory;  ///< of a client or a peer
    Segment segment;                       ///< of Guest::Segment
  };

  /// The name to send to the client.
  const std::string& name() const { return name_; }
  /// A file descriptor that is readable when a process connects.
  int fd() const { return listener_.get(); }
  /// The memory for the client.
  const std::shared_ptr<SharedMemory>& memory() const { return memory_; }

  /// Answers a process that has connected; waits for its request for a moment.
  /// @returns what it took; nothing if no process has connected, or one that gets nothing.
  /// @param client what a client has to present
  /// @param peer the same for other workers
  std::optional<Taken> serve(const std::string& client, const std::string& peer);
  /// Tells the client whether this worker has its segment.
  /// @param refusal why it has not; empty: it has
  /// @returns whether the client can learn of it; otherwise it does not use the segment.
  static bool answer(const Segment& segment, std::string_view refusal);

 private:
  static std::optional<Taken> take_segment(Fd connection);

  std::string name_;
  Fd listener_;
  std::shared_ptr<SharedMemory> memory_;
  bool client_has_it_ = false;
  unsigned peers_ = 0;
};

/// Takes the memory that a worker offers under this name.
/// @returns null if there is no such offer on this host, or another user made it.
std::shared_ptr<SharedMemory> take_shared_offer(const std::string& name, const std::string& token,
                                                Guest guest, std::chrono::milliseconds timeout);

/// Shares a segment of the client with the worker that offers memory under this name.
/// @param address where the worker is to map it, for a buffer that is this memory; 0: anywhere
/// @returns why the worker has not got it, in words that may be shown; empty: it has it.
std::string give_segment(const std::string& name, const std::string& token, ObjectId id,
                         const SharedSegment& segment, std::uint64_t address,
                         std::chrono::milliseconds timeout);

}  // namespace clique::protocol
