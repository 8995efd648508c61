#pragma once

#include <map>
#include <memory>
#include <vector>

#include "daemon/backend.hpp"

namespace clique::daemon {

/// Brings the parts that other workers push to the Expect commands that wait for them. Parts may come first.
/// Main thread.
class Transfers {
 public:
  /// @param sink null: the data is dropped.
  void expect(protocol::CommandId id, std::uint64_t size, std::unique_ptr<TransferSink> sink);
  void receive(protocol::PeerData&& part);
  /// What an Expect waits for is not coming. @returns false where no such Expect waits.
  bool fail(protocol::CommandId id, std::int32_t status);

 private:
  struct Transfer {
    bool expected = false;
    std::uint64_t size = 0;
    std::uint64_t received = 0;
    std::unique_ptr<TransferSink> sink;
    std::vector<protocol::PeerData> early;
  };
  /// @returns whether the transfer is over.
  static bool place(Transfer& transfer, protocol::PeerData&& part);

  std::map<protocol::CommandId, Transfer> transfers_;
  std::uint64_t early_bytes_ = 0;
};

}  // namespace clique::daemon
