#include "daemon/worker/reports/report_order.hpp"

#include "daemon/worker/reports/reporter.hpp"

namespace clique::daemon {

ReportOrder::EntryRef ReportOrder::expect(std::span<const EntryRef> after) {
  auto entry = std::make_shared<Entry>();
  const std::lock_guard lock(mutex_);
  for (const EntryRef& before : after) {
    if (!before || before->out_) continue;
    before->successors_.push_back(entry);
    ++entry->waits_for_;
  }
  return entry;
}

ReportOrder::EntryRef ReportOrder::follow(std::span<const EntryRef> after) {
  auto entry = expect(after);
  const std::lock_guard lock(mutex_);
  if (entry->waits_for_ == 0) return nullptr;
  entry->emit_ = [] {};
  return entry;
}

void ReportOrder::due(const EntryRef& entry, std::function<void()> emit) {
  {
    const std::lock_guard lock(mutex_);
    entry->emit_ = emit ? std::move(emit) : [] {};
    std::vector<EntryRef> ready;
    if (entry->waits_for_ == 0) ready.push_back(entry);
    while (!ready.empty()) {
      const EntryRef next = std::move(ready.back());
      ready.pop_back();
      next->emit_();
      next->emit_ = nullptr;
      next->out_ = true;
      for (EntryRef& successor : next->successors_)
        if (--successor->waits_for_ == 0 && successor->emit_) ready.push_back(std::move(successor));
      next->successors_.clear();
    }
  }
  reporter_.flush();
}

bool ReportOrder::is_out(const EntryRef& entry) {
  const std::lock_guard lock(mutex_);
  return entry->out_;
}

}  // namespace clique::daemon
