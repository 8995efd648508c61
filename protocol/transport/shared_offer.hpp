// How a client and a worker find that they are on one host, and come to share memory.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "protocol/transport/shared_memory.hpp"

namespace clique::protocol {

/// A worker's offer: a UNIX socket with an abstract name that nobody guesses. Who connects, is the same user
/// and shows the session's token gets the memory. Not thread-safe.
class SharedOffer {
 public:
  /// Throws std::system_error.
  SharedOffer();

  /// To be told to the client.
  const std::string& name() const { return name_; }
  /// Readable when somebody connects.
  int fd() const { return listener_.get(); }
  const std::shared_ptr<SharedMemory>& memory() const { return memory_; }

  /// Answers those who have connected; waits a moment for what they say.
  /// @returns true once a client has the memory, after which nobody else can get it.
  bool serve(const std::string& token);

 private:
  bool serve_one(int connection, const std::string& token);

  std::string name_;
  Fd listener_;
  std::shared_ptr<SharedMemory> memory_;
};

/// Takes the memory that the worker offers under this name.
/// @returns null where there is no such offer on this host, or it is another user's.
std::shared_ptr<SharedMemory> take_shared_offer(const std::string& name, const std::string& token,
                                                std::chrono::milliseconds timeout);

}  // namespace clique::protocol
