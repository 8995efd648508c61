// Values to msgpack and back. Include this in source files only: msgpack's headers and these templates take
// long to compile. Messages are encoded and decoded through protocol/batch.hpp.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <msgpack.hpp>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "protocol/aggregate.hpp"
#include "protocol/appended_fields.hpp"
#include "protocol/buffer.hpp"
#include "protocol/decode_error.hpp"
#include "protocol/limits.hpp"
#include "protocol/payload.hpp"

namespace clique::protocol {

namespace detail {

using Packer = msgpack::packer<Buffer>;

/// Writes values as msgpack. Payloads that do not travel inline are appended to `payloads`.
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
  void operator()(const Bytes& value) { pack_block(value.data(), value.size()); }
  void operator()(const Payload& value) {
    if (value.bytes.size() > kInlinePayload) {
      packer.pack_nil();
      payloads.push_back(value);
      return;
    }
    pack_block(value.bytes.data(), value.bytes.size());
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

 private:
  void pack_block(const void* bytes, std::size_t size) {
    packer.pack_bin(static_cast<std::uint32_t>(size));
    if (size > 0) packer.pack_bin_body(static_cast<const char*>(bytes), static_cast<std::uint32_t>(size));
  }
};

/// Reads values from parsed msgpack. Payloads that are not inline are taken from `frames` in order.
struct Decoder {
  std::span<const Payload>& frames;
  /// Keeps alive the batch that inline payloads point into.
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
    fields_of(array(from), to);
  }
  template <Fielded T>
  void fields_of(std::span<const msgpack::object> elements, T& to) const {
    static_assert(kAppendedFields<T> <= kFieldCount<T>);
    check_fields(elements.size(), kFieldCount<T> - kAppendedFields<T>);
    std::apply(
        [&](auto&... field) {
          std::size_t i = 0;
          const auto next = [&](auto& to_field) {
            if (i < elements.size()) (*this)(elements[i], to_field);
            ++i;
          };
          (next(field), ...);
        },
        to.fields());
  }

  static std::span<const msgpack::object> array(const msgpack::object& from);
  static std::span<const msgpack::object> array(const msgpack::object& from, std::size_t count);

 private:
  /// Throws DecodeError if there are fewer than `least`.
  static void check_fields(std::size_t fields, std::size_t least);
  template <std::integral T>
  static T integer(const msgpack::object& from) {
    if (from.type == msgpack::type::POSITIVE_INTEGER && std::in_range<T>(from.via.u64))
      return static_cast<T>(from.via.u64);
    if (from.type == msgpack::type::NEGATIVE_INTEGER && std::in_range<T>(from.via.i64))
      return static_cast<T>(from.via.i64);
    throw DecodeError("a field that must be an integer is of another type, or out of range");
  }
};

}  // namespace detail

/// Parses one msgpack value. Its strings and blocks are copies.
/// @param limits of arrays, strings, blocks and depth
/// Throws DecodeError.
msgpack::object_handle parse(std::span<const std::byte> bytes, const msgpack::unpack_limit& limits);

/// A value that holds no payloads beyond kInlinePayload, as msgpack.
template <typename T>
Buffer encode(const T& value) {
  Buffer bytes;
  detail::Packer packer(bytes);
  std::vector<Payload> payloads;
  detail::Encoder{packer, payloads}(value);
  return bytes;
}

/// The reverse of encode(). Throws DecodeError.
template <typename T>
T decode(const msgpack::object& from) {
  std::span<const Payload> no_frames;
  const std::shared_ptr<const void> no_owner;
  T value;
  detail::Decoder{no_frames, no_owner}(from, value);
  return value;
}

}  // namespace clique::protocol
