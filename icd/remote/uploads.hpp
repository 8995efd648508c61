// Large contents on their way to a worker.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <vector>

#include "protocol/messages.hpp"

namespace clique::icd {

/// Sends contents in parts, of which only so many are under way at a time: the worker tells when it has put
/// one where it belongs. So what a worker holds of a transfer is bounded, however large that is and however
/// long it has to wait, and what waits does not stand in the way of others: each transfer may have at least
/// one part under way, which leaves the others their room. Any thread.
class Uploads {
 public:
  /// Bytes of a part.
  static constexpr std::size_t kPart = 1U << 20U;

  /// How parts leave. Called by one thread at a time, without a lock.
  class Way {
   public:
    virtual ~Way() = default;
    virtual void send(protocol::PeerData&& part) = 0;
  };

  explicit Uploads(Way& way) : way_(way) {}

  /// Bytes that may be under way from now on, the first part of each transfer but one aside; a part, until
  /// this is called.
  void set_window(std::size_t bytes);
  /// Sends all of `content` as the transfer that the worker has been told to expect.
  void add(protocol::CommandId transfer, protocol::Payload content);
  /// The worker has put something in place, or dropped it. @returns whether go_on() has something to send
  bool taken(const protocol::Taken& taken);
  /// Sends what there is room for.
  void go_on();
  /// Sends no more of the transfer. `then` is called, once, when nothing of it is under way; at once where
  /// there is no such transfer (any more).
  void cancel(protocol::CommandId transfer, std::function<void()> then);
  /// Forgets all transfers, and those to come. @returns what cancel() would have called.
  std::vector<std::function<void()>> close();

 private:
  struct Upload {
    protocol::CommandId transfer;
    protocol::Payload content;
    std::size_t sent = 0;
    std::size_t under_way = 0;
    std::function<void()> cancelled = {};

    /// Of what is under way, what there is not always room for.
    std::size_t beyond() const { return under_way - std::min(under_way, kPart); }
    bool all_sent() const { return sent == content.bytes.size() || cancelled; }
  };

  void send(std::unique_lock<std::mutex>& lock);
  Upload* sendable();
  void set_under_way(Upload& upload, std::size_t bytes);
  std::list<Upload>::iterator find(protocol::CommandId transfer);

  Way& way_;
  std::mutex mutex_;  // guards what follows
  std::list<Upload> uploads_;
  std::size_t beyond_ = 0;  // of all of them
  std::size_t window_ = kPart;
  bool sending_ = false;  // somebody is, and will look for more
  bool closed_ = false;
};

}  // namespace clique::icd
