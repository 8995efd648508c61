#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "protocol/ids.hpp"

namespace clique::protocol {
struct Data;
struct EventState;
struct Failed;
struct PeerData;
struct Print;
struct PeerLost;
}  // namespace clique::protocol

namespace clique::icd {

/// Receives what a worker reports unasked. The functions, except place() and arrived(), are called on
/// whichever thread receives, one call at a time per link, in the order of arrival. They must not wait for
/// the link. They may post to links, lock their own data and run the application's callbacks. (If such a
/// callback waits for the link against the rules, its thread goes on receiving meanwhile.)
class Reports {
 public:
  virtual ~Reports() = default;
  virtual void event_state(protocol::EventState&& state) = 0;
  virtual void data(protocol::Data&& data) = 0;
  /// A part of a push to this client. Parts arrive in any order, also relative to other reports.
  virtual void pushed(protocol::PeerData&& part) = 0;
  /// The memory that a part of a push to this client is for, so that it can arrive there. It is not given
  /// back to the application before the returned owner is released. Any thread.
  /// @returns null if the part has to arrive elsewhere
  virtual std::shared_ptr<std::byte> place(protocol::CommandId transfer, std::uint64_t offset,
                                           std::size_t size) = 0;
  /// A part of a push to this client has come through a stream: as pushed(), but on any thread. Its payload
  /// is in the memory that place() has returned, or, without an owner, in memory that is valid during the
  /// call.
  virtual void arrived(protocol::PeerData&& part) = 0;
  virtual void print(protocol::Print&& text) = 0;
  virtual void failed(protocol::Failed&& failure) = 0;
  /// The worker has not reached another worker for some seconds, and goes on trying.
  /// @param why in words; may be empty
  virtual void out_of_reach(protocol::PeerId peer, const std::string& why) = 0;
  /// The worker has given up reaching another worker.
  virtual void unreachable(const protocol::PeerLost& loss) = 0;
  /// The connection is lost for good. Called once, and not after Link::close(). Link::lost() is already true,
  /// and all payloads have been released. Outstanding requests fail, and threads return from Link::wait(),
  /// after this call.
  virtual void lost(const std::string& reason) = 0;
};

}  // namespace clique::icd
