#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace clique::daemon {

class Reporter;

/// Brings reports into the order of the commands' dependencies. A driver's threads call back in any order,
/// but a client that sees a command complete must find complete what that command came after.
class ReportOrder {
 public:
  /// One report that will be made. Shared by whoever must be reported after it.
  class Entry {
    friend class ReportOrder;
    std::size_t waits_for_ = 0;  // entries not yet out
    bool out_ = false;
    std::function<void()> emit_;  // set when due
    std::vector<std::shared_ptr<Entry>> successors_;
  };
  using EntryRef = std::shared_ptr<Entry>;

  explicit ReportOrder(Reporter& reporter) : reporter_(reporter) {}

  /// Announces a report that has to come after those in `after` (null ones are ignored). Any thread.
  EntryRef expect(std::span<const EntryRef> after);

  /// Stands for what is in `after` (null ones are ignored) without a report of its own: out when all of that
  /// is. Null where it is out already. Any thread.
  EntryRef follow(std::span<const EntryRef> after);

  /// The report is due: `emit` (which adds to the Reporter, and may be empty) is called, now or once those
  /// before it are out, on this or another thread. Any thread.
  void due(const EntryRef& entry, std::function<void()> emit);

  bool is_out(const EntryRef& entry);

 private:
  Reporter& reporter_;
  std::mutex mutex_;
};

}  // namespace clique::daemon
