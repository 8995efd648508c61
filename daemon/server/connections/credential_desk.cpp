#include "daemon/server/connections/credential_desk.hpp"

#include <utility>

namespace clique::daemon {

namespace {
/// Greetings that may wait for munged, which takes some milliseconds for each.
constexpr std::size_t kMaxGreetings = 64;
}  // namespace

CredentialDesk::CredentialDesk(protocol::Munge munge) : munge_(std::move(munge)) {
  thread_ = std::thread([this] { serve(); });
}

CredentialDesk::~CredentialDesk() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

bool CredentialDesk::take(Greeting greeting) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMaxGreetings) return false;
    waiting_.push_back(std::move(greeting));
  }
  changed_.notify_one();
  return true;
}

void CredentialDesk::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    Greeting greeting = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    Visitor& visitor = greeting.visitor;
    try {
      visitor.munge_user = munge_.decode(greeting.hello.credential, visitor.binding);
    } catch (const protocol::SecurityError& error) {
      visitor.munge_failure = error.what();
    }
    answers_.add(std::move(greeting));
    lock.lock();
  }
}

}  // namespace clique::daemon
