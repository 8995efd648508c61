#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/backend.hpp"

namespace clique::daemon {

/// Brings the parts that other workers push to the Expect commands that wait for them. Parts may come first.
/// Main thread.
class Transfers {
 public:
  using Send = std::function<void(protocol::PeerData&&)>;

  /// @param sink null: the data is dropped.
  void expect(const protocol::Expect& command, std::unique_ptr<TransferSink> sink);
  void receive(protocol::PeerData&& part);
  /// What an Expect waits for is not coming. @returns false where no such Expect waits.
  bool fail(protocol::CommandId id, std::int32_t status);

  /// A push of what is on its way here, and which waits for that alone, sends the parts on as they come,
  /// instead of waiting for the last and reading them again.
  /// @returns what has come before, as pushes that are still to be done; nothing where the push is none of
  /// these.
  std::optional<std::vector<protocol::Push>> relay(const protocol::Push& push, Send send);

 private:
  struct Relay {
    protocol::CommandId transfer;
    Send send;
  };
  struct Transfer {
    bool expected = false;
    protocol::ObjectId object = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t received = 0;
    /// Begin and end of the parts that have come, those joined that came one after the other.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
    std::unique_ptr<TransferSink> sink;
    std::vector<Relay> relays;
    std::vector<protocol::PeerData> early;
  };
  /// @returns whether the transfer is over.
  static bool place(Transfer& transfer, protocol::PeerData&& part);
  static void fail(Transfer& transfer, std::int32_t status);

  std::map<protocol::CommandId, Transfer> transfers_;
  std::uint64_t early_bytes_ = 0;
};

}  // namespace clique::daemon
