#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "protocol/payload.hpp"

namespace clique::protocol {

/// One received batch. Everything it holds stays alive as long as a payload's owner does.
struct Incoming {
  std::string routing_id;  ///< of the sender, on ROUTER sockets
  std::span<const std::byte> records;
  std::vector<Payload> frames;
  std::shared_ptr<const void> owner;
};

/// Bytes of a batch with its payloads, without what the transport adds.
inline std::size_t bytes_of(const Incoming& incoming) {
  std::size_t bytes = incoming.records.size();
  for (const Payload& frame : incoming.frames) bytes += frame.bytes.size();
  return bytes;
}

}  // namespace clique::protocol
