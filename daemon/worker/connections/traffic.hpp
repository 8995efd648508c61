// Counters of a session's traffic, for the daemon's log.
#pragma once

#include <atomic>
#include <cstdint>

#include "protocol/batch.hpp"
#include "protocol/transport/zmq.hpp"

namespace clique::daemon {

/// A sum. One thread at a time adds to it, which costs no more than with a plain number; any thread reads it.
class Counter {
 public:
  void add(std::uint64_t amount) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Bytes of a batch with its payloads, without what the transport adds.
inline std::uint64_t bytes_of(const protocol::Batch& batch) {
  std::uint64_t bytes = batch.size();
  for (const protocol::Payload& payload : batch.payloads()) bytes += payload.bytes.size();
  return bytes;
}

}  // namespace clique::daemon
