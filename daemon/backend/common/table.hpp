#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "daemon/backend/common/checks.hpp"

namespace clique::daemon {

/// Objects of one kind by their ids. One whose creation failed stays as failed. Main thread.
template <typename T>
class Table {
 public:
  explicit Table(const char* kind) : kind_(kind) {}

  void add(protocol::ObjectId id, std::shared_ptr<T> object) { insert(id, {std::move(object), CL_SUCCESS}); }
  void add_failed(protocol::ObjectId id, cl_int status) { insert(id, {nullptr, status}); }

  /// Throws RuleBroken for an id that was never given or is released, ClError for an object that could not be
  /// made.
  const std::shared_ptr<T>& get(protocol::ObjectId id) const {
    const auto entry = entries_.find(id);
    if (entry == entries_.end())
      throw RuleBroken(std::string(kind_) + " " + std::to_string(id) + " does not exist");
    if (!entry->second.object)
      throw ClError(entry->second.status,
                    std::string(kind_) + " " + std::to_string(id) + " could not be created");
    return entry->second.object;
  }
  bool contains(protocol::ObjectId id) const { return entries_.contains(id); }
  bool erase(protocol::ObjectId id) { return entries_.erase(id) > 0; }

 private:
  struct Entry {
    std::shared_ptr<T> object;
    cl_int status = CL_SUCCESS;
  };
  void insert(protocol::ObjectId id, Entry entry) {
    if (id == 0 || !entries_.emplace(id, std::move(entry)).second)
      throw RuleBroken(std::string(kind_) + " " + std::to_string(id) + " exists already");
  }

  const char* kind_;
  std::unordered_map<protocol::ObjectId, Entry> entries_;
};

}  // namespace clique::daemon
