#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace clique::daemon {

class Reporter;

/// Brings reports into the order of the commands' dependencies: a driver's threads call back in any order,
/// but when a client sees a command complete, everything that the command depends on must have been reported.
class ReportOrder {
 public:
  /// One report that will be made. Shared with the entries that must follow it.
  class Entry {
    friend class ReportOrder;
    std::size_t waits_for_ = 0;  // entries that are not out yet
    bool out_ = false;
    std::function<void()> emit_;  // set when the report is due
    std::vector<std::shared_ptr<Entry>> successors_;
  };
  using EntryRef = std::shared_ptr<Entry>;

  explicit ReportOrder(Reporter& reporter) : reporter_(reporter) {}

  /// Announces a report that has to follow those in `after`, where null entries are ignored. Any thread.
  EntryRef expect(std::span<const EntryRef> after);

  /// An entry without a report of its own, which is out when all of `after` are (null entries are ignored).
  /// Null if they are out already. Any thread.
  EntryRef follow(std::span<const EntryRef> after);

  /// The report is due. Calls `emit`, which adds it to the Reporter and may be empty, as soon as all earlier
  /// reports are out: now, or later on another thread. Any thread.
  void due(const EntryRef& entry, std::function<void()> emit);

  /// Whether the report has been added. Any thread.
  bool is_out(const EntryRef& entry);

 private:
  Reporter& reporter_;
  std::mutex mutex_;
};

}  // namespace clique::daemon
