#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "daemon/worker/errors.hpp"
#include "daemon/worker/reports/reporter.hpp"
#include "protocol/messages.hpp"

namespace clique::daemon {

/// Objects of one kind by their ids. An object that could not be created keeps its id, with the reason. Main
/// thread.
template <typename T>
class Table {
 public:
  /// @param kind names the objects in errors, such as "queue"
  explicit Table(const char* kind) : kind_(kind) {}

  void add(protocol::ObjectId id, std::shared_ptr<T> object) { insert(id, {std::move(object), 0}); }

  /// Adds what `make` returns. If it throws ClError, the object counts as failed and the client is told so.
  template <typename Make>
  void create(protocol::ObjectId id, Reporter& reporter, Make&& make) {
    try {
      add(id, make());
    } catch (const ClError& error) {
      insert(id, {nullptr, error.status()});
      reporter.report(protocol::Failed{id, error.status(), error.what(), 0});
    }
  }

  /// Throws RuleBroken for an id that was never given or is released, and ClError for an object that could
  /// not be created.
  const std::shared_ptr<T>& get(protocol::ObjectId id) const {
    const auto entry = entries_.find(id);
    if (entry == entries_.end()) throw RuleBroken(name(id) + " does not exist");
    if (!entry->second.object) throw ClError(entry->second.status, name(id) + " could not be created");
    return entry->second.object;
  }
  /// Null if get() would throw.
  const T* find(protocol::ObjectId id) const {
    const auto entry = entries_.find(id);
    return entry == entries_.end() ? nullptr : entry->second.object.get();
  }
  bool contains(protocol::ObjectId id) const { return entries_.contains(id); }
  bool erase(protocol::ObjectId id) { return entries_.erase(id) > 0; }

 private:
  struct Entry {
    std::shared_ptr<T> object;
    std::int32_t status = 0;  ///< of a failed creation
  };
  void insert(protocol::ObjectId id, Entry entry) {
    if (id == 0) throw RuleBroken(std::string(kind_) + " 0 cannot be created: ids begin at 1");
    if (!entries_.emplace(id, std::move(entry)).second) throw RuleBroken(name(id) + " exists already");
  }
  std::string name(protocol::ObjectId id) const { return std::string(kind_) + " " + std::to_string(id); }

  const char* kind_;
  std::unordered_map<protocol::ObjectId, Entry> entries_;
};

/// The error for a released id that no table has.
inline RuleBroken unknown_release(protocol::ObjectId id) {
  RuleBroken error("object " + std::to_string(id) + " was released but does not exist");
  return error;
}

}  // namespace clique::daemon
