// How Batch and BatchReader encode and decode one kind of message. Included by protocol/messages/*.cpp, each
// of which instantiates the messages of its header.
#pragma once

#include <msgpack.hpp>
#include <span>
#include <string>

#include "protocol/batch.hpp"
#include "protocol/codec.hpp"

namespace clique::protocol {

namespace detail {

/// Builds msgpack's tree of objects in a zone, whose size it limits. Strings and blocks stay in the batch.
class RecordVisitor : public msgpack::detail::create_object_visitor {
  using Base = msgpack::detail::create_object_visitor;

 public:
  explicit RecordVisitor(msgpack::zone& zone)
      : Base([](msgpack::type::object_type, std::size_t, void*) { return true; }, nullptr,
             msgpack::unpack_limit(Limits::kArray, 0, Limits::kString, Limits::kBin, 0, Limits::kDepth)) {
    set_zone(zone);
    set_referenced(false);
  }

  /// For the next record. @param bytes of the record, and of what follows it
  void begin(std::size_t bytes) {
    init();
    left_ = std::min(Limits::kElements, bytes);
  }

  /// Before the memory for the elements is allocated: each of them takes at least one byte of the batch.
  bool start_array(std::uint32_t elements) {
    if (elements > left_) throw msgpack::array_size_overflow("more elements of arrays than allowed");
    left_ -= elements;
    return Base::start_array(elements);
  }

 private:
  std::size_t left_ = 0;
};

}  // namespace detail

struct BatchReader::State {
  std::span<const std::byte> records;
  std::span<const Payload> frames;
  const std::shared_ptr<const void>* owner = nullptr;
  std::size_t offset = 0;
  /// The present record: its message number, then the fields.
  std::span<const msgpack::object> elements;
  msgpack::zone zone;
  detail::RecordVisitor visitor{zone};
};

template <typename M>
void Batch::add(const M& message) {
  static_assert(arity<M>() == kFieldCount<M>, "a field is missing in CLIQUE_MESSAGE");
  detail::Packer packer(records_);
  packer.pack_array(kFieldCount<M> + 1);
  packer.pack(static_cast<std::uint16_t>(M::op));
  detail::Encoder{packer, payloads_}.fields_of(message);
}

template <typename M>
M BatchReader::take() {
  const auto fields = state_->elements.subspan(1);
  if (fields.size() < kFieldCount<M> - kAppendedFields<M>)
    throw DecodeError("message number " + std::to_string(static_cast<unsigned>(M::op)) + " has " +
                      std::to_string(fields.size()) + " fields instead of " + std::to_string(kFieldCount<M>));
  M message;
  detail::Decoder{state_->frames, *state_->owner}.fields_of(fields, message);
  return message;
}

}  // namespace clique::protocol

/// Compiles the encoding and decoding of a message.
#define CLIQUE_MESSAGE_CODEC(M)                         \
  template void clique::protocol::Batch::add(const M&); \
  template M clique::protocol::BatchReader::take()
