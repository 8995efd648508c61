// How a worker and its client, or another worker, find that they are on one host, and come to share memory.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "protocol/messages.hpp"
#include "protocol/transport/shared_memory.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::protocol {

/// Who takes an offer. The client comes again for each segment that it shares.
enum class Guest : char { Client = 'c', Peer = 'p', Segment = 's' };

/// A worker's offer: a UNIX socket with an abstract name that nobody guesses. Who connects, is the same user
/// and shows the session's token gets memory: the client what was made with the offer, once; other workers
/// some of their own. Not thread-safe.
class SharedOffer {
 public:
  /// Throws std::system_error.
  SharedOffer();

  /// Workers to which memory is given.
  static constexpr unsigned kMostPeers = 256;

  struct Taken {
    Guest guest;
    std::shared_ptr<SharedMemory> memory;    ///< of a client or a peer
    std::shared_ptr<SharedSegment> segment;  ///< of a client's
    ObjectId id = 0;                         ///< the segment's
  };

  /// To be told to the client.
  const std::string& name() const { return name_; }
  /// Readable when somebody connects.
  int fd() const { return listener_.get(); }
  /// The client's.
  const std::shared_ptr<SharedMemory>& memory() const { return memory_; }

  /// Answers one who has connected; waits a moment for what he says.
  /// @returns what was taken; nothing where nobody has connected, or somebody who may not have it.
  std::optional<Taken> serve(const std::string& token);

 private:
  static std::optional<Taken> take_segment(int connection);

  std::string name_;
  Fd listener_;
  std::shared_ptr<SharedMemory> memory_;
  bool client_has_it_ = false;
  unsigned peers_ = 0;
};

/// Takes the memory that the worker offers under this name.
/// @returns null where there is no such offer on this host, or it is another user's.
std::shared_ptr<SharedMemory> take_shared_offer(const std::string& name, const std::string& token,
                                                Guest guest, std::chrono::milliseconds timeout);

/// Gives a client's segment to the worker that offers memory under this name.
/// @returns whether the worker has mapped it.
bool give_segment(const std::string& name, const std::string& token, ObjectId id,
                  const SharedSegment& segment, std::chrono::milliseconds timeout);

}  // namespace clique::protocol
