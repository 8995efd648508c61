#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/worker/backend.hpp"
#include "protocol/limits.hpp"

namespace clique::daemon {

/// Brings the parts that other workers push to the Expect commands that wait for them. Parts may arrive
/// before their Expect. Main thread.
class Transfers {
 public:
  /// How a push sends on the parts that arrive.
  struct Onward {
    std::function<void(protocol::PeerData&&)> send;
    /// For parts that cannot be sent on as they are: pushes them from their place in the buffer.
    std::function<void(protocol::Push&&)> push;
  };

  /// @param sink null: the data is dropped
  /// Throws RuleBroken if the transfer is expected already.
  void expect(const protocol::Expect& command, std::unique_ptr<TransferSink> sink);
  void receive(protocol::PeerData&& part) { receive(Part(std::move(part))); }
  void receive(protocol::WindowData&& part) { receive(Part(std::move(part))); }
  /// The parts that an Expect waits for will not arrive. @returns false if no such Expect waits.
  bool fail(protocol::CommandId id, std::int32_t status);

  /// Whether some bytes are expected, and so few that waking a thread for each part counts.
  bool awaits_little() const { return awaited_ > 0 && awaited_ <= kLittle; }

  /// TransferSink::map() of a transfer of this size that is expected, of which nothing has come, and that
  /// nobody wants to be relayed. @returns false for any other
  bool map(protocol::CommandId id, std::uint64_t size, TransferSink::Writer writer,
           std::function<void(std::shared_ptr<std::byte>)> action);

  /// If a push is of a range that is still arriving, and waits for nothing else, sends the parts on as they
  /// arrive, instead of reading them back after the last one. Parts that have arrived before, and parts in
  /// windows, are pushed one by one.
  /// @returns whether the push is one of these
  bool relay(const protocol::Push& push, Onward onward);

 private:
  using Part = std::variant<protocol::PeerData, protocol::WindowData>;
  struct Relay {
    protocol::Push push;
    Onward onward;
  };
  struct Transfer {
    bool expected = false;
    bool mapped = false;  ///< parts lie in the range itself, and may change when the transfer is complete
    protocol::ObjectId object = 0;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t received = 0;
    /// Begin and end of the ranges that have arrived; consecutive parts are joined.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
    std::unique_ptr<TransferSink> sink;
    std::vector<Relay> relays;
    std::vector<Part> early;
  };
  /// What connections carry in about a millisecond.
  static constexpr std::uint64_t kLittle = 4 * protocol::kMiB;

  static std::uint64_t size_of(const Part& part);
  /// Bytes that are expected, have not arrived, and are wanted.
  static std::uint64_t missing(const Transfer& transfer);
  void receive(Part&& part);
  /// @returns whether the transfer is complete or has failed
  static bool place(Transfer& transfer, Part&& part);
  static void put(Transfer& transfer, protocol::PeerData&& part);
  static void put(Transfer& transfer, protocol::WindowData&& part);
  static void push_again(const Relay& relay, std::uint64_t begin, std::uint64_t end);
  static void fail(Transfer& transfer, std::int32_t status);

  std::map<protocol::CommandId, Transfer> transfers_;
  std::uint64_t early_bytes_ = 0;
  std::uint64_t awaited_ = 0;  // the sum of missing()
};

}  // namespace clique::daemon
