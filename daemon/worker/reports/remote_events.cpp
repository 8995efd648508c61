#include "daemon/worker/reports/remote_events.hpp"

#include <string>

#include "daemon/worker/backend.hpp"

namespace clique::daemon {

namespace {
/// Ends of commands that may be reported before AwaitRemote. A correct client causes far fewer.
constexpr std::size_t kMostEarly = 1U << 20U;
}  // namespace

void RemoteEvents::await(protocol::AwaitRemote&& message) {
  const auto command = message.command;
  // NOLINTNEXTLINE(performance-move-const-arg): all messages are handed on in one way
  backend_.handle(std::move(message));
  if (const auto early = early_.extract(command)) {
    backend_.set_remote(command, early.mapped());
  } else {
    awaited_.insert(command);
  }
}

void RemoteEvents::complete(protocol::CommandId command, std::int32_t status) {
  if (status > 0)
    throw RuleBroken("command " + std::to_string(command) + " of another worker was reported with status " +
                     std::to_string(status) + "; a final status is 0 or negative");
  if (awaited_.erase(command) == 0) {
    if (early_.size() >= kMostEarly)
      throw RuleBroken("more than " + std::to_string(kMostEarly) +
                       " commands of other workers have ended for which this worker does not wait");
    early_.emplace(command, status);
    return;
  }
  backend_.set_remote(command, status);
  if (released_.erase(command) > 0) backend_.handle(protocol::Release{{}, {command}});
}

void RemoteEvents::release(std::vector<protocol::CommandId>& events) {
  std::erase_if(events, [this](protocol::CommandId id) {
    const bool pending = awaited_.contains(id);
    if (pending) released_.insert(id);
    return pending;
  });
}

}  // namespace clique::daemon
