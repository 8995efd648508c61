#include "daemon/worker/connections/dial_requests.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>

#include "protocol/throw_errno.hpp"

namespace clique::daemon {

using protocol::DialFailed;
using protocol::Dialled;

/// A request, and its answer.
struct DialRequests::Pending {
  DialRequest request;
  Fd answered{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};

  std::mutex mutex;  // guards the members below
  std::optional<Dialled> connection;
  std::optional<DialFailed> failure;
};

class DialRequests::Asked final : public protocol::Dialling {
 public:
  Asked(DialRequests& requests, std::shared_ptr<Pending> pending)
      : requests_(requests), pending_(std::move(pending)) {}
  ~Asked() override { requests_.forget(pending_->request.number); }

  int fd() const override { return pending_->answered.get(); }
  short events() const override { return POLLIN; }
  bool step() override {
    const std::lock_guard lock(pending_->mutex);
    if (pending_->failure) throw DialFailed(*pending_->failure);
    return pending_->connection.has_value();
  }
  Dialled take() override {
    const std::lock_guard lock(pending_->mutex);
    return std::move(*pending_->connection);
  }

 private:
  DialRequests& requests_;
  const std::shared_ptr<Pending> pending_;
};

std::unique_ptr<protocol::Dialling> DialRequests::begin(const protocol::StreamTarget& target,
                                                        const protocol::StreamRequest& request) {
  const auto pending = std::make_shared<Pending>();
  if (!pending->answered) throw protocol::StreamBroken("no connection can be awaited: " + error_text(errno));
  pending->request = {0,
                      target.endpoint,
                      target.worker,
                      target.secret,
                      target.encryption,
                      target.known,
                      request.content,
                      request.line,
                      request.attempt,
                      request.received};
  const std::lock_guard lock(mutex_);
  pending->request.number = ++last_;
  queue_.push_back(pending);
  ask_next();
  return std::make_unique<Asked>(*this, pending);
}

void DialRequests::ask_next() {
  for (; !queue_.empty() && asked_.size() < kMostDials; queue_.pop_front()) {
    ask_(queue_.front()->request);
    asked_.emplace(queue_.front()->request.number, queue_.front());
  }
  waiting_.store(!asked_.empty(), std::memory_order_relaxed);
}

void DialRequests::forget(std::uint64_t number) {
  const std::lock_guard lock(mutex_);
  if (const auto asked = asked_.find(number); asked != asked_.end()) asked->second = nullptr;
  std::erase_if(queue_, [number](const auto& pending) { return pending->request.number == number; });
}

void DialRequests::answered(const Notice& notice, Fd socket) {
  const DialAnswer answer = parse_dial_answer(notice.request);
  std::shared_ptr<Pending> pending;
  {
    const std::lock_guard lock(mutex_);
    const auto asked = asked_.find(answer.number);
    if (asked == asked_.end()) return;
    pending = std::move(asked->second);
    asked_.erase(asked);
    ask_next();
  }
  if (!pending) return;
  const std::lock_guard lock(pending->mutex);
  if (socket)
    pending->connection.emplace(
        Dialled{std::move(socket), answer.cipher, {answer.to_worker, answer.from_worker}, answer.received});
  else
    pending->failure.emplace(static_cast<DialFailed::Kind>(notice.status), notice.text);
  ::eventfd_write(pending->answered.get(), 1);
}

}  // namespace clique::daemon
