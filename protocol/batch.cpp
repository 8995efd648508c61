#include "protocol/batch.hpp"

#include <algorithm>
#include <string>

#include "protocol/message_codec.hpp"

namespace clique::protocol {

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
  state.visitor.begin(state.records.size() - state.offset);
  try {
    msgpack::parse(reinterpret_cast<const char*>(state.records.data()), state.records.size(), state.offset,
                   state.visitor);
  } catch (const msgpack::unpack_error& error) {
    throw DecodeError(std::string("not msgpack, or over its limits: ") + error.what());
  }
  state.elements = detail::Decoder::array(state.visitor.data());
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
