// What a record that travels through UCX looks like, and the order of those that have arrived.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "protocol/streams/keys.hpp"
#include "protocol/streams/record.hpp"

namespace clique::protocol {

/// The header of the active message that carries a record. protocol/README.md specifies it. Its data is the
/// record's payload: sent by rendezvous, so that the receiver reads it straight to its place.
struct UcxHeader {
  static constexpr std::size_t kBytes = 64;
  using Message = std::array<std::byte, kBytes>;

  std::uint64_t channel = 0;  ///< UcxChannel::number() of the receiver
  std::uint64_t number = 0;   ///< of the record: counts what this end sends on the channel, from 0
  RecordHeader::Message record{};
  RecordTag tag{};  ///< of the record; zeros if records are not sealed

  Message encode() const;
  /// Any bytes are a header; whether its channel and its number exist is for others to say.
  static UcxHeader decode(std::span<const std::byte, kBytes> message);
};

/// A record that has arrived, but for its payload.
struct UcxRecord {
  RecordHeader::Message header{};
  RecordTag tag{};
  std::size_t size = 0;  ///< bytes of data that the sender offers
  void* data = nullptr;  ///< UCX's descriptor of these; null: there are none
};

/// Brings the records of a channel into the order in which they were sent: UCX promises none. Not
/// thread-safe.
class UcxArrivals {
 public:
  /// Records that may wait. A sender has one with a payload under way, and acknowledgements are few.
  static constexpr std::uint64_t kMost = 4096;

  /// @returns false if the sender breaks the rules: there has been a record of this number, or too many wait
  bool add(std::uint64_t number, const UcxRecord& record);
  /// Whether the next record has arrived.
  bool ready() const { return !waiting_.empty() && waiting_.begin()->first == next_; }
  /// The next record, if ready().
  UcxRecord take();
  /// Drops everything. @returns the descriptors of their data, to be released
  std::vector<void*> clear();

 private:
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, UcxRecord> waiting_;
};

}  // namespace clique::protocol
