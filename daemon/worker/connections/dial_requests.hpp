#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "daemon/common/control.hpp"
#include "protocol/fd.hpp"
#include "protocol/streams/dial.hpp"

namespace clique::daemon {

/// The connections to other workers that the starter makes for this process, which has no network of its own
/// (docs/decisions/0039). Thread-safe.
class DialRequests {
 public:
  /// Asks the starter for a connection, which answered() brings.
  using Ask = std::function<void(const DialRequest&)>;

  explicit DialRequests(Ask ask) : ask_(std::move(ask)) {}
  DialRequests(const DialRequests&) = delete;
  DialRequests& operator=(const DialRequests&) = delete;

  /// A protocol::Dialler. What it returns must not outlive this.
  std::unique_ptr<protocol::Dialling> begin(const protocol::StreamTarget& target,
                                            const protocol::StreamRequest& request);
  /// The starter has answered. Throws DecodeError. @param socket none: the notice says why
  void answered(const Notice& notice, Fd socket);
  /// Whether the starter has yet to answer.
  bool waiting() const { return waiting_.load(std::memory_order_relaxed); }

 private:
  struct Pending;
  class Asked;

  /// Asks for the next ones, if there may be more at a time. Under mutex_.
  void ask_next();
  /// Nobody wants this connection any more.
  void forget(std::uint64_t number);

  const Ask ask_;
  std::atomic<bool> waiting_{false};
  std::mutex mutex_;                                         // guards the members below
  std::uint64_t last_ = 0;                                   // number of the last request
  std::deque<std::shared_ptr<Pending>> queue_;               // the starter does not know them yet
  std::map<std::uint64_t, std::shared_ptr<Pending>> asked_;  // null: nobody wants it any more
};

}  // namespace clique::daemon
