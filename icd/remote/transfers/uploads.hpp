// Large transfers to a worker, sent in parts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <vector>

#include "protocol/limits.hpp"
#include "protocol/messages/transfers.hpp"

namespace clique::icd {

/// Sends the content of transfers in parts, and limits how many parts are in flight: the worker reports when
/// it has put a part in its place (protocol::Taken). This bounds what a worker holds of a transfer, whatever
/// the transfer's size and however long it has to wait. A transfer that waits does not block others: each may
/// have at least one part in flight beside the window. Thread-safe.
class Uploads {
 public:
  /// Carries parts to the worker. Called by one thread at a time, without a lock.
  class Way {
   public:
    virtual ~Way() = default;
    virtual void send(protocol::PeerData&& part) = 0;
  };

  explicit Uploads(Way& way) : way_(way) {}

  /// Sets how many bytes may be in flight, not counting the first part of each transfer but one, and the
  /// number of streams that carry them at the same time. Until this is called, the window is one part, and
  /// there is one stream.
  void set_window(std::size_t bytes, unsigned streams);
  /// Sends `content` as a transfer that the worker has been told to expect (protocol::Expect).
  void add(protocol::CommandId transfer, protocol::Payload content);
  /// The worker has put bytes in their place, or dropped them. @returns true if go_on() has something to
  /// send. Throws DecodeError if fewer bytes are under way.
  bool taken(const protocol::Taken& taken);
  /// Sends as much as the window allows.
  void go_on();
  /// Stops sending the transfer. Calls `then` once, when none of its parts is in flight; at once if there is
  /// no such transfer, or no longer.
  void cancel(protocol::CommandId transfer, std::function<void()> then);
  /// Drops all transfers, and ignores those added later. @returns the functions of cancel() that have not
  /// been called.
  std::vector<std::function<void()>> close();

 private:
  struct Upload {
    protocol::CommandId transfer;
    protocol::Payload content;
    std::size_t part;  ///< bytes of each part but the last
    std::size_t sent = 0;
    std::size_t under_way = 0;
    std::function<void()> cancelled = {};

    /// The bytes in flight that count towards the window.
    std::size_t beyond() const { return under_way - std::min(under_way, protocol::kPartSize); }
    bool all_sent() const { return sent == content.bytes.size() || cancelled; }
  };

  void send(std::unique_lock<std::mutex>& lock);
  Upload* sendable();
  void set_under_way(Upload& upload, std::size_t bytes);
  std::list<Upload>::iterator find(protocol::CommandId transfer);

  Way& way_;
  std::mutex mutex_;  // guards the members below
  std::list<Upload> uploads_;
  std::size_t beyond_ = 0;  // the sum over uploads_
  std::size_t window_ = protocol::kPartSize;
  unsigned streams_ = 1;
  bool sending_ = false;  // a thread is sending, and will look for more before it stops
  bool closed_ = false;
};

}  // namespace clique::icd
