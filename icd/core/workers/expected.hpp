// The messages that the client expects from a worker for a command, besides the report of its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <span>

#include "icd/core/events/event.hpp"
#include "icd/remote/transfers/copy.hpp"

namespace clique::icd {

/// Takes the data of one read command as it arrives. Called on a receiving thread, with the number of the
/// part. Throws DecodeError if the command has no such part.
using DataSink = std::function<void(std::uint32_t part, std::span<const std::byte> data)>;

/// Host memory that several workers fill for one command. Any thread.
class HostRange {
 public:
  /// Copies data to its place in the range, unless the range is closed.
  void fill(std::byte* to, std::span<const std::byte> from, Through through);
  /// Gives the memory back to the application: the command has ended before all data was there.
  void close();

 private:
  std::shared_mutex mutex_;
  bool closed_ = false;
};

/// A command that moves much data beside the commands (docs/decisions/0012). Its event is that of a marker in
/// the application's queue. That marker waits for a transfer on the context's transfer queue, which waits for
/// another marker in the application's queue: its turn.
struct Bulk {
  /// The event of the first marker, if its times are wanted. It ends before the command's event.
  Ref<Event> turn = {};
  /// The event of the transfer, which ends before the command's event. Empty if the command has several.
  Ref<Event> transfer = {};
  /// The host memory that a read fills; empty for a write.
  std::span<std::byte> fills = {};
  /// Whether the client sends the data.
  bool upload = false;
  /// Set if other workers fill the memory as well.
  std::shared_ptr<HostRange> range = {};
};

}  // namespace clique::icd
