#include "protocol/codec.hpp"

namespace clique::protocol {

namespace detail {

void Decoder::operator()(const msgpack::object& from, bool& to) const {
  if (from.type != msgpack::type::BOOLEAN) throw DecodeError("a boolean is missing");
  to = from.via.boolean;
}

void Decoder::operator()(const msgpack::object& from, std::string& to) const {
  if (from.type != msgpack::type::STR) throw DecodeError("a string is missing");
  to.assign(from.via.str.ptr, from.via.str.size);
}

void Decoder::operator()(const msgpack::object& from, Bytes& to) const {
  if (from.type != msgpack::type::BIN) throw DecodeError("a block of bytes is missing");
  to.assign(from.via.bin.ptr, from.via.bin.ptr + from.via.bin.size);
}

void Decoder::operator()(const msgpack::object& from, Payload& to) const {
  if (from.type == msgpack::type::NIL) {
    if (frames.empty()) throw DecodeError("a payload frame is missing");
    to = frames.front();
    frames = frames.subspan(1);
  } else if (from.type == msgpack::type::BIN) {
    to = {std::as_bytes(std::span(from.via.bin.ptr, from.via.bin.size)), batch};
  } else {
    throw DecodeError("a payload is missing");
  }
}

std::span<const msgpack::object> Decoder::array(const msgpack::object& from) {
  if (from.type != msgpack::type::ARRAY) throw DecodeError("an array is missing");
  return {from.via.array.ptr, from.via.array.size};
}

std::span<const msgpack::object> Decoder::array(const msgpack::object& from, std::size_t count) {
  const auto elements = array(from);
  if (elements.size() != count)
    throw DecodeError("an array of " + std::to_string(elements.size()) + " elements instead of " +
                      std::to_string(count));
  return elements;
}

}  // namespace detail

void BatchReader::begin(std::span<const std::byte> records) {
  if (records.size() > Limits::kBatchBytes)
    throw DecodeError("a batch of " + std::to_string(records.size()) + " bytes");
  records_ = records;
  offset_ = 0;
}

bool BatchReader::next(msgpack::object& record) {
  if (offset_ == records_.size()) return false;
  zone_.clear();
  bool referenced = false;
  // Strings and blocks stay in the batch; only the tree of objects is in the zone.
  const auto refer = [](msgpack::type::object_type, std::size_t, void*) { return true; };
  try {
    record = msgpack::unpack(
        zone_, reinterpret_cast<const char*>(records_.data()), records_.size(), offset_, referenced, refer,
        nullptr, msgpack::unpack_limit(Limits::kArray, 0, Limits::kString, Limits::kBin, 0, Limits::kDepth));
  } catch (const msgpack::unpack_error& error) {
    throw DecodeError(std::string("not msgpack, or over its limits: ") + error.what());
  }
  return true;
}

}  // namespace clique::protocol
