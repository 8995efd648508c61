// Messages travel in batches: one block of msgpack records, followed by the bulk payloads that the records
// refer to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "protocol/aggregate.hpp"
#include "protocol/buffer.hpp"
#include "protocol/messages/message.hpp"
#include "protocol/payload.hpp"

namespace clique::protocol {

/// A batch of messages under construction. Not thread-safe.
class Batch {
 public:
  /// Appends a message. A payload that does not travel inline is referred to, not copied, until the batch is
  /// sent. Defined for each message in protocol/messages/*.cpp.
  template <typename M>
  void add(const M& message);
  bool empty() const { return records_.size() == 0; }
  /// Bytes of the records, not counting payloads in frames of their own.
  std::size_t size() const { return records_.size(); }
  std::span<const std::byte> records() const { return records_.bytes(); }
  const std::vector<Payload>& payloads() const { return payloads_; }
  /// To exchange the payloads' owners and the memory that holds their bytes. The bytes must stay the same.
  std::vector<Payload>& payloads() { return payloads_; }
  void clear() {
    records_.clear();
    payloads_.clear();
  }

 private:
  Buffer records_;
  std::vector<Payload> payloads_;
};

/// Reads a batch: calls a handler for each record in order. A batch is untrusted: decoding has limits
/// (protocol/limits.hpp) and throws DecodeError. Not thread-safe; reuse one per socket.
class BatchReader {
 public:
  BatchReader();
  ~BatchReader();
  BatchReader(const BatchReader&) = delete;
  BatchReader& operator=(const BatchReader&) = delete;

  /// Decodes all of a batch. `handler` is called as handler(M&&) for each message; M must be in the list, and
  /// a handler that lacks an overload for a message of the list does not compile. Throws DecodeError, and
  /// what the handler throws; the messages before the invalid one have then been handled.
  /// @param owner keeps `records` alive for inline payloads that outlive the call.
  template <typename Handler, typename... M>
  void read(MessageList<M...> /*list*/, std::span<const std::byte> records, std::span<const Payload> frames,
            const std::shared_ptr<const void>& owner, Handler&& handler) {
    begin(records, frames, owner);
    go_on(MessageList<M...>{}, [](Op) { return true; }, handler);
  }

  /// The same in steps: begins with a batch, which go_on() reads. Everything has to live until that has read
  /// it to its end. Throws DecodeError.
  void begin(std::span<const std::byte> records, std::span<const Payload> frames,
             const std::shared_ptr<const void>& owner);
  /// Reads on, to the end of the batch, or to a message whose number `admit` refuses; that one is the next to
  /// be read. Throws as read() does. @returns whether this is the end
  template <typename Admit, typename Handler, typename... M>
  bool go_on(MessageList<M...> /*list*/, Admit&& admit, Handler&& handler) {
    static_assert(unique<M...>(), "two messages have the same number");
    while (const auto op = refused_ ? std::exchange(refused_, std::nullopt) : next()) {
      if (!admit(*op)) {
        refused_ = op;
        return false;
      }
      const bool known = ((*op == M::op && (handler(take<M>()), true)) || ...);
      if (!known) refuse(*op);
    }
    return true;
  }

 private:
  struct State;

  /// Parses the next record. @returns its message number; nothing at the end of the batch.
  std::optional<Op> next();
  /// Decodes the record as this message. Defined for each message in protocol/messages/*.cpp.
  template <typename M>
  M take();
  [[noreturn]] static void refuse(Op op);

  template <typename... M>
  static constexpr bool unique() {
    const std::array<Op, sizeof...(M)> ops{M::op...};
    for (std::size_t i = 0; i < ops.size(); ++i)
      for (std::size_t j = i + 1; j < ops.size(); ++j)
        if (ops[i] == ops[j]) return false;
    return true;
  }

  std::unique_ptr<State> state_;
  std::optional<Op> refused_;  // the message that `admit` has refused, which next() has parsed
};

}  // namespace clique::protocol
