#include "daemon/backend/common/command_reports.hpp"

#include <utility>

namespace clique::daemon {

namespace {
/// From this many reports on, those of an out-of-order queue that are out are removed.
constexpr std::size_t kManyPending = 64;
}  // namespace

CommandReports::Entry CommandReports::expect(QueueState& queue, const std::vector<Entry>& after,
                                             bool barrier) {
  Entry entry = order_.expect(after);
  if (queue.in_order || barrier) queue.last_report = entry;
  if (!queue.in_order) queue.pending_reports.push_back(entry);
  return entry;
}

CommandReports::Entry CommandReports::follow(QueueState& queue, const std::vector<Entry>& after) {
  Entry entry = order_.follow(after);
  if (!entry) return entry;
  if (queue.in_order)
    queue.last_report = entry;
  else
    queue.pending_reports.push_back(entry);
  return entry;
}

void CommandReports::append_before(std::vector<Entry>& after, QueueState& queue, bool everything) {
  auto& pending = queue.pending_reports;
  if (pending.size() > kManyPending)
    std::erase_if(pending, [this](const Entry& entry) { return order_.is_out(entry); });
  if (!queue.in_order && everything)
    after.insert(after.end(), pending.begin(), pending.end());
  else if (queue.last_report)
    after.push_back(queue.last_report);
}

void CommandReports::complete(const Entry& entry, Completion completion) {
  order_.due(entry, [this, completion = std::move(completion)] {
    const auto& [state, reported, data, size, part, unhurried] = completion;
    if (data && state.status == CL_COMPLETE)
      reporter_.add(protocol::Data{state.command, part, {{data.get(), size}, data}});
    if (!reported) return;
    if (unhurried && state.status == CL_COMPLETE)
      reporter_.add_unhurried(state);
    else
      reporter_.add(state);
  });
}

void CommandReports::fail_without_event(protocol::ObjectId id, QueueState* queue, protocol::CommandId command,
                                        cl_int status, const char* what) {
  cl_int none = CL_SUCCESS;
  if (queue != nullptr) queue->deferred.compare_exchange_strong(none, status);
  reporter_.report(protocol::Failed{id, status, what, queue == nullptr ? 0 : command});
}

void CommandReports::explain(protocol::ObjectId queue, const ClError& error) {
  reporter_.report(protocol::Failed{queue, error.status(), error.what(), 0});
}

void CommandReports::refuse(const protocol::Command& command, QueueState* queue, const ClError& error) {
  if (is_reported(command))
    reporter_.report(protocol::EventState{command.id, error.status(), {}});
  else
    fail_without_event(command.queue, queue, command.id, error.status(), error.what());
}

std::function<void(cl_int)> CommandReports::finish(std::shared_ptr<QueueState> queue,
                                                   protocol::RequestId request) {
  std::vector<Entry> after;
  append_before(after, *queue, true);
  return [this, entry = order_.expect(after), queue = std::move(queue), request](cl_int /*status*/) {
    order_.due(entry, [this, queue, request] {
      reporter_.add(protocol::Finished{request, queue->deferred.exchange(CL_SUCCESS)});
    });
  };
}

}  // namespace clique::daemon
