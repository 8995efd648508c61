#include "protocol/batch.hpp"

#include <algorithm>
#include <string>

#include "protocol/message_codec.hpp"

namespace clique::protocol {

namespace {

/// Builds msgpack's tree of objects in a zone, whose size it limits. Strings and blocks stay in the batch.
class RecordVisitor : public msgpack::detail::create_object_visitor {
  using Base = msgpack::detail::create_object_visitor;

 public:
  /// @param bytes of the record, and of what follows it
  RecordVisitor(msgpack::zone& zone, std::size_t bytes)
      : Base([](msgpack::type::object_type, std::size_t, void*) { return true; }, nullptr,
             msgpack::unpack_limit(Limits::kArray, 0, Limits::kString, Limits::kBin, 0, Limits::kDepth)),
        left_(std::min(Limits::kElements, bytes)) {
    set_zone(zone);
    set_referenced(false);
  }

  /// Before the memory for the elements is allocated: each of them takes at least one byte of the batch.
  bool start_array(std::uint32_t elements) {
    if (elements > left_) throw msgpack::array_size_overflow("more elements of arrays than allowed");
    left_ -= elements;
    return Base::start_array(elements);
  }

 private:
  std::size_t left_;
};

}  // namespace

BatchReader::BatchReader() : state_(std::make_unique<State>()) {}

BatchReader::~BatchReader() = default;

void BatchReader::begin(std::span<const std::byte> records, std::span<const Payload> frames,
                        const std::shared_ptr<const void>& owner) {
  if (records.size() > Limits::kBatchBytes)
    throw DecodeError("a batch of " + std::to_string(records.size()) + " bytes; at most " +
                      std::to_string(Limits::kBatchBytes) + " are allowed");
  std::size_t bytes = 0;
  for (const Payload& frame : frames) bytes += frame.bytes.size();
  if (frames.size() > Limits::kFrames || bytes > Limits::kFrameBytes)
    throw DecodeError("a batch of more than " + std::to_string(Limits::kFrames) + " frames, or more than " +
                      std::to_string(Limits::kFrameBytes) + " bytes in them");
  refused_.reset();
  state_->records = records;
  state_->frames = frames;
  state_->owner = &owner;
  state_->offset = 0;
}

std::optional<Op> BatchReader::next() {
  State& state = *state_;
  if (state.offset == state.records.size()) {
    if (!state.frames.empty()) throw DecodeError("no message refers to some of the batch's frames");
    return std::nullopt;
  }
  state.zone.clear();
  RecordVisitor visitor(state.zone, state.records.size() - state.offset);
  try {
    msgpack::parse(reinterpret_cast<const char*>(state.records.data()), state.records.size(), state.offset,
                   visitor);
    state.record = visitor.data();
  } catch (const msgpack::unpack_error& error) {
    throw DecodeError(std::string("not msgpack, or over its limits: ") + error.what());
  }
  state.elements = detail::Decoder::array(state.record);
  if (state.elements.empty()) throw DecodeError("a record has no message number");
  Op op{};
  detail::Decoder{state.frames, *state.owner}(state.elements[0], op);
  return op;
}

void BatchReader::refuse(Op op) {
  throw DecodeError("message number " + std::to_string(static_cast<unsigned>(op)) +
                    " is unknown or not allowed here");
}

}  // namespace clique::protocol
