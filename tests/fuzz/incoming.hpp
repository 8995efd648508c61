// Batches as they come from ZeroMQ, in inputs: the size of a frame (1 byte; 0: there is none), the frame, the
// size of the records (2 bytes), and the records.
#pragma once

#include "protocol/batch.hpp"
#include "protocol/transport/zmq.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace clique::fuzz {

/// The next batch of the input. Its memory lives as long as its owners.
inline protocol::Incoming next_batch(Input& input) {
  protocol::Incoming batch;
  if (const auto frame = input.block(input.number<std::uint8_t>()); !frame->empty())
    batch.frames.push_back({*frame, frame});
  const auto records = input.block(input.number<std::uint16_t>());
  batch.records = *records;
  batch.owner = records;
  return batch;
}

/// Writes what next_batch() reads, for seeds.
inline Output& put_batch(Output& output, const protocol::Batch& batch, std::string_view frame = {}) {
  output.number(static_cast<std::uint8_t>(frame.size())).bytes(frame);
  return output.number(static_cast<std::uint16_t>(batch.size())).bytes(batch.records());
}

/// A batch with these messages.
template <typename... M>
protocol::Batch batch_of(const M&... messages) {
  protocol::Batch batch;
  (batch.add(messages), ...);
  return batch;
}

}  // namespace clique::fuzz
