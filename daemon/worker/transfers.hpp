#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/worker/backend.hpp"

namespace clique::daemon {

/// Brings the parts that other workers push to the Expect commands that wait for them. Parts may come first.
/// Main thread.
class Transfers {
 public:
  /// How a push goes on that relays what comes.
  struct Onward {
    std::function<void(protocol::PeerData&&)> send;
    /// What cannot be sent as it is, for it to be pushed from where it will be.
    std::function<void(protocol::Push&&)> push;
  };

  /// @param sink null: the data is dropped.
  void expect(const protocol::Expect& command, std::unique_ptr<TransferSink> sink);
  void receive(protocol::PeerData&& part) { receive(Part(std::move(part))); }
  void receive(protocol::WindowData&& part) { receive(Part(std::move(part))); }
  /// What an Expect waits for is not coming. @returns false where no such Expect waits.
  bool fail(protocol::CommandId id, std::int32_t status);

  /// A push of what is on its way here, and which waits for that alone, sends the parts on as they come,
  /// instead of waiting for the last and reading them again. What has come before, and what lies in windows,
  /// is pushed by itself.
  /// @returns whether the push is one of these.
  bool relay(const protocol::Push& push, Onward onward);

 private:
  using Part = std::variant<protocol::PeerData, protocol::WindowData>;
  struct Relay {
    protocol::Push push;
    Onward onward;
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
    std::vector<Part> early;
  };
  static std::uint64_t size_of(const Part& part);
  void receive(Part&& part);
  /// @returns whether the transfer is over.
  static bool place(Transfer& transfer, Part&& part);
  static void put(Transfer& transfer, protocol::PeerData&& part);
  static void put(Transfer& transfer, protocol::WindowData&& part);
  static void push_again(const Relay& relay, std::uint64_t begin, std::uint64_t end);
  static void fail(Transfer& transfer, std::int32_t status);

  std::map<protocol::CommandId, Transfer> transfers_;
  std::uint64_t early_bytes_ = 0;
};

}  // namespace clique::daemon
