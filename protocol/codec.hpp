// From messages to bytes and back. Messages travel in batches: one block of msgpack records, followed by the
// bulk payloads that the records refer to. Everything that comes in is untrusted: decoding has limits and
// throws DecodeError.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <msgpack.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "protocol/limits.hpp"
#include "protocol/messages.hpp"

namespace clique::protocol {

/// A message that is not what the protocol allows. what() says which and why, for the log and for the sender.
class DecodeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

namespace detail {

using Packer = msgpack::packer<msgpack::sbuffer>;

struct Encoder {
  Packer& packer;
  std::vector<Payload>& payloads;

  void operator()(bool value) { packer.pack(value); }
  template <std::integral T>
  void operator()(T value) {
    packer.pack(value);
  }
  template <typename T>
    requires std::is_enum_v<T>
  void operator()(T value) {
    packer.pack(static_cast<std::underlying_type_t<T>>(value));
  }
  void operator()(const std::string& value) { packer.pack(value); }
  void operator()(const Bytes& value) {
    packer.pack_bin(static_cast<std::uint32_t>(value.size()));
    packer.pack_bin_body(reinterpret_cast<const char*>(value.data()),
                         static_cast<std::uint32_t>(value.size()));
  }
  void operator()(const Payload& value) {
    if (value.bytes.size() > kInlinePayload) {
      packer.pack_nil();
      payloads.push_back(value);
      return;
    }
    packer.pack_bin(static_cast<std::uint32_t>(value.bytes.size()));
    packer.pack_bin_body(reinterpret_cast<const char*>(value.bytes.data()),
                         static_cast<std::uint32_t>(value.bytes.size()));
  }
  template <typename T>
  void operator()(const std::vector<T>& value) {
    packer.pack_array(static_cast<std::uint32_t>(value.size()));
    for (const T& element : value) (*this)(element);
  }
  template <typename T, std::size_t N>
  void operator()(const std::array<T, N>& value) {
    packer.pack_array(N);
    for (const T& element : value) (*this)(element);
  }
  template <Fielded T>
  void operator()(const T& value) {
    static_assert(arity<T>() == kFieldCount<T>, "a field is missing in CLIQUE_FIELDS or CLIQUE_MESSAGE");
    packer.pack_array(kFieldCount<T>);
    fields_of(value);
  }
  template <Fielded T>
  void fields_of(const T& value) {
    std::apply([this](const auto&... field) { ((*this)(field), ...); }, value.fields());
  }
};

/// Decodes one record; payloads that are not inline are taken from `frames` in order.
struct Decoder {
  std::span<const Payload>& frames;
  /// Keeps the batch alive that inline payloads point into.
  const std::shared_ptr<const void>& batch;

  void operator()(const msgpack::object& from, bool& to) const;
  template <std::integral T>
  void operator()(const msgpack::object& from, T& to) const {
    to = integer<T>(from);
  }
  template <typename T>
    requires std::is_enum_v<T>
  void operator()(const msgpack::object& from, T& to) const {
    to = static_cast<T>(integer<std::underlying_type_t<T>>(from));
  }
  void operator()(const msgpack::object& from, std::string& to) const;
  void operator()(const msgpack::object& from, Bytes& to) const;
  void operator()(const msgpack::object& from, Payload& to) const;
  template <typename T>
  void operator()(const msgpack::object& from, std::vector<T>& to) const {
    const auto elements = array(from);
    to.resize(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) (*this)(elements[i], to[i]);
  }
  template <typename T, std::size_t N>
  void operator()(const msgpack::object& from, std::array<T, N>& to) const {
    const auto elements = array(from, N);
    for (std::size_t i = 0; i < N; ++i) (*this)(elements[i], to[i]);
  }
  template <Fielded T>
  void operator()(const msgpack::object& from, T& to) const {
    fields_of(array(from, kFieldCount<T>), to);
  }
  template <Fielded T>
  void fields_of(std::span<const msgpack::object> elements, T& to) const {
    std::apply(
        [&](auto&... field) {
          std::size_t i = 0;
          ((*this)(elements[i++], field), ...);
        },
        to.fields());
  }

  static std::span<const msgpack::object> array(const msgpack::object& from);
  static std::span<const msgpack::object> array(const msgpack::object& from, std::size_t count);

 private:
  template <std::integral T>
  static T integer(const msgpack::object& from) {
    if (from.type == msgpack::type::POSITIVE_INTEGER && std::in_range<T>(from.via.u64))
      return static_cast<T>(from.via.u64);
    if (from.type == msgpack::type::NEGATIVE_INTEGER && std::in_range<T>(from.via.i64))
      return static_cast<T>(from.via.i64);
    throw DecodeError("an integer is missing or out of range");
  }
};

}  // namespace detail

/// A batch of messages under construction. Not thread-safe.
class Batch {
 public:
  /// Appends a message. Payloads that do not travel inline are referred to, not copied, until the batch is
  /// sent.
  template <typename M>
  void add(const M& message) {
    static_assert(arity<M>() == kFieldCount<M>, "a field is missing in CLIQUE_MESSAGE");
    detail::Packer packer(records_);
    packer.pack_array(kFieldCount<M> + 1);
    packer.pack(static_cast<std::uint16_t>(M::op));
    detail::Encoder{packer, payloads_}.fields_of(message);
  }
  bool empty() const { return records_.size() == 0; }
  /// Bytes of the records, payloads in frames of their own not counted.
  std::size_t size() const { return records_.size(); }
  std::span<const std::byte> records() const {
    return std::as_bytes(std::span(records_.data(), records_.size()));
  }
  const std::vector<Payload>& payloads() const { return payloads_; }
  /// To exchange payloads' owners, and the memory that their bytes are in; what these are has to stay.
  std::vector<Payload>& payloads() { return payloads_; }
  void clear() {
    records_.clear();
    payloads_.clear();
  }

 private:
  msgpack::sbuffer records_;
  std::vector<Payload> payloads_;
};

/// Reads a batch: calls a handler for each record in order. Not thread-safe; reuse one per socket.
class BatchReader {
 public:
  /// Decodes all of a batch. `handler` is called as handler(M&&) for each message; M must be in the list, and
  /// a handler that lacks an overload for one of the list does not compile. Throws DecodeError, and what the
  /// handler throws; messages before the bad one have then been handled.
  /// @param owner keeps `records` alive for inline payloads that outlive the call.
  template <typename Handler, typename... M>
  void read(MessageList<M...> list, std::span<const std::byte> records, std::span<const Payload> frames,
            const std::shared_ptr<const void>& owner, Handler&& handler) {
    begin(records);
    msgpack::object record;
    while (next(record)) {
      const auto elements = detail::Decoder::array(record);
      const detail::Decoder decoder{frames, owner};
      dispatch(list, elements, decoder, handler);
    }
    if (!frames.empty()) throw DecodeError("frames that no message refers to");
  }

 private:
  void begin(std::span<const std::byte> records);
  bool next(msgpack::object& record);

  template <typename Handler, typename... M>
  static void dispatch(MessageList<M...> /*list*/, std::span<const msgpack::object> elements,
                       const detail::Decoder& decoder, Handler& handler) {
    static_assert(unique<M...>(), "two messages have the same number");
    std::uint16_t op = 0;
    if (elements.empty()) throw DecodeError("a record without a message number");
    decoder(elements[0], op);
    const bool known = (try_one<M>(op, elements, decoder, handler) || ...);
    if (!known)
      throw DecodeError("message number " + std::to_string(op) + " is unknown or has no place here");
  }

  template <typename M, typename Handler>
  static bool try_one(std::uint16_t op, std::span<const msgpack::object> elements,
                      const detail::Decoder& decoder, Handler& handler) {
    if (op != static_cast<std::uint16_t>(M::op)) return false;
    if (elements.size() != kFieldCount<M> + 1)
      throw DecodeError("message number " + std::to_string(op) + " has " +
                        std::to_string(elements.size() - 1) + " fields instead of " +
                        std::to_string(kFieldCount<M>));
    M message;
    decoder.fields_of(elements.subspan(1), message);
    handler(std::move(message));
    return true;
  }

  template <typename... M>
  static constexpr bool unique() {
    const std::array<Op, sizeof...(M)> ops{M::op...};
    for (std::size_t i = 0; i < ops.size(); ++i)
      for (std::size_t j = i + 1; j < ops.size(); ++j)
        if (ops[i] == ops[j]) return false;
    return true;
  }

  std::span<const std::byte> records_;
  std::size_t offset_ = 0;
  msgpack::zone zone_;
};

}  // namespace clique::protocol
