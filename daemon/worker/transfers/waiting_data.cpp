#include "daemon/worker/transfers/waiting_data.hpp"

#include <algorithm>
#include <utility>

#include "daemon/common/log.hpp"
#include "daemon/worker/errors.hpp"

namespace clique::daemon {

WaitingData::WaitingData(std::uint64_t session_memory)
    : limit_(session_memory == 0 ? 0 : std::max(session_memory, kLeast)),
      bytes_(std::make_shared<std::atomic<std::uint64_t>>(0)) {}

WaitingData::Share WaitingData::counted(Share owner, std::uint64_t bytes) {
  struct Counted {
    Share owner;
    std::shared_ptr<std::atomic<std::uint64_t>> total;
    std::uint64_t bytes;
    Counted(Share of, std::shared_ptr<std::atomic<std::uint64_t>> to, std::uint64_t size)
        : owner(std::move(of)), total(std::move(to)), bytes(size) {
      *total += bytes;
    }
    ~Counted() { *total -= bytes; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
  };
  const void* const address = owner.get();
  return {std::make_shared<Counted>(std::move(owner), bytes_, bytes), address};
}

WaitingData::Share WaitingData::count(std::uint64_t bytes) {
  return limit_ == 0 ? nullptr : counted(nullptr, bytes);
}

void WaitingData::count(protocol::Payload& payload) {
  if (limit_ != 0) payload.owner = counted(std::move(payload.owner), payload.bytes.size());
}

void WaitingData::count(protocol::Incoming& incoming) {
  if (limit_ == 0) return;
  incoming.owner = counted(std::move(incoming.owner), incoming.records.size());
  for (protocol::Payload& frame : incoming.frames) count(frame);
}

void WaitingData::check() const {
  const std::uint64_t bytes = bytes_->load(std::memory_order_relaxed);
  if (limit_ == 0 || bytes <= limit_) return;
  throw DeviceFailed(fmt::format(
      "{} bytes of this session wait in the node's memory (data of commands that have not run, data "
      "of other workers that is not expected yet, replies that have not been received, sources of programs), "
      "of which the limit is {} bytes "
      "(session-memory of cliqued); wait for commands before enqueuing more, or have the node's "
      "administrator raise the limit",
      bytes, limit_));
}

}  // namespace clique::daemon
