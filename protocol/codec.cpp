#include "protocol/codec.hpp"

namespace clique::protocol {

namespace detail {

void Decoder::operator()(const msgpack::object& from, bool& to) const {
  if (from.type != msgpack::type::BOOLEAN)
    throw DecodeError("a field that must be a boolean is of another type");
  to = from.via.boolean;
}

void Decoder::operator()(const msgpack::object& from, std::string& to) const {
  if (from.type != msgpack::type::STR) throw DecodeError("a field that must be a string is of another type");
  to.assign(from.via.str.ptr, from.via.str.size);
}

void Decoder::operator()(const msgpack::object& from, Bytes& to) const {
  if (from.type != msgpack::type::BIN)
    throw DecodeError("a field that must be a block of bytes is of another type");
  // As the same type, so that the library copies blocks and not single bytes.
  const auto* const begin = reinterpret_cast<const std::uint8_t*>(from.via.bin.ptr);
  to.assign(begin, begin + from.via.bin.size);
}

void Decoder::operator()(const msgpack::object& from, Payload& to) const {
  if (from.type == msgpack::type::NIL) {
    if (frames.empty()) throw DecodeError("a payload frame is missing");
    to = frames.front();
    frames = frames.subspan(1);
  } else if (from.type == msgpack::type::BIN) {
    to = {std::as_bytes(std::span(from.via.bin.ptr, from.via.bin.size)), batch};
  } else {
    throw DecodeError("a field that must be a payload is of another type");
  }
}

std::span<const msgpack::object> Decoder::array(const msgpack::object& from) {
  if (from.type != msgpack::type::ARRAY) throw DecodeError("a record, list or structure is not an array");
  return {from.via.array.ptr, from.via.array.size};
}

std::span<const msgpack::object> Decoder::array(const msgpack::object& from, std::size_t count) {
  const auto elements = array(from);
  if (elements.size() != count)
    throw DecodeError("an array of " + std::to_string(elements.size()) + " elements instead of " +
                      std::to_string(count));
  return elements;
}

void Decoder::check_fields(std::size_t fields, std::size_t least) {
  if (fields < least)
    throw DecodeError("a message or structure of " + std::to_string(fields) + " fields, which has at least " +
                      std::to_string(least));
}

}  // namespace detail

msgpack::object_handle parse(std::span<const std::byte> bytes, const msgpack::unpack_limit& limits) {
  try {
    return msgpack::unpack(reinterpret_cast<const char*>(bytes.data()), bytes.size(), nullptr, nullptr,
                           limits);
  } catch (const msgpack::unpack_error& error) {
    throw DecodeError(std::string("not msgpack, or over its limits: ") + error.what());
  }
}

}  // namespace clique::protocol
