#pragma once

#include <cstdint>
#include <memory>

#include "daemon/common/link_usage.hpp"
#include "daemon/common/measurements.hpp"
#include "protocol/fd.hpp"
#include "protocol/messages/status.hpp"
#include "protocol/transport/shared_segment.hpp"

namespace clique::daemon {

/// Memory in which a worker says what its session has used so far. The daemon makes it and reads it at any
/// time, without the worker's help. A kernel that has taken the worker over may write anything there; a
/// worker that does not run leaves its last numbers. Any thread.
class UsagePage {
 public:
  /// New memory, for the daemon. Throws std::system_error.
  UsagePage();
  /// The memory that the daemon has handed over, for the worker. Throws std::system_error and DecodeError.
  explicit UsagePage(Fd memory);

  /// To be handed over with Notice::Kind::Usage.
  int descriptor() const { return memory_->descriptor(); }
  void write(const protocol::Usage& usage) const;
  void write(const SessionLinks& links) const;
  void write(const Measured& measured) const;
  /// @param commands that the session has enqueued and that have not ended
  void write_queued(std::uint64_t commands) const;
  /// The numbers may be those of different moments.
  protocol::Usage read() const;
  SessionLinks links() const;
  Measured measured() const;
  std::uint64_t queued() const;

 private:
  std::shared_ptr<protocol::SharedSegment> memory_;
};

}  // namespace clique::daemon
