#include "icd/core/workers/replies.hpp"

#include "icd/core/workers/ask.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/nodes/nodes.hpp"
#include "icd/trace/trace.hpp"

namespace clique::icd {

AnswerLimit build_limit(const Link& link) {
  const std::chrono::seconds time = link.endpoint().build_timeout;
  return {time,
          "it has not finished building a program within " + std::to_string(time.count()) +
              " s. Set CLIQUE_BUILD_TIMEOUT_S (or build-timeout-s in nodes.toml) to more seconds, or to "
              "0 for any time, if programs take longer there; the node's log may say what it does"};
}

void PendingReplies::receive(Worker& worker, const std::atomic<bool>& known) {
  const trace::Wait waiting([&] { return "the answer of " + worker.label(); });
  worker.link().wait([&] { return known.load(std::memory_order_acquire); });
}

std::string PendingReplies::failure_of(const Worker& worker, const std::string& reason) {
  return "node " + worker.node().name() + ": " + reason;
}

void PendingReplies::finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  finished_changed_.notify_all();
}

void PendingReplies::wait_finished() {
  std::unique_lock lock(mutex_);
  finished_changed_.wait(lock, [this] { return finished_; });
}

}  // namespace clique::icd
