// The session's objects on the driver.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "daemon/backend.hpp"
#include "daemon/backend/opencl/native.hpp"

namespace clique::daemon::opencl {

using protocol::ObjectId;

struct Context {
  Handle<cl_context> native;
  std::vector<cl_device_id> devices;
};

struct Queue {
  ObjectId id = 0;
  Handle<cl_command_queue> native;
  std::shared_ptr<Context> context;
  cl_device_id device = nullptr;
  bool in_order = true;
  bool profiling = false;
  std::int64_t clock_offset = 0;  ///< to be added to the device's times
  /// First failure of a command without an event since the last Finish.
  std::atomic<cl_int> deferred{CL_SUCCESS};
  /// The native event of the last command, in order: watching it is cheaper than a marker (by half on PoCL).
  Handle<cl_event> tail;
  /// Has commands that were not flushed yet.
  bool touched = false;
  /// What a later report has to come after: in order, the last command; else all that are not out, and the
  /// barrier.
  ReportOrder::EntryRef last;
  std::vector<ReportOrder::EntryRef> pending;
};

struct Memory {
  Handle<cl_mem> native;
  std::shared_ptr<Context> context;
  std::uint64_t size = 0;  ///< of a buffer; of an image, its bytes without gaps
  bool image = false;
  // Of an image:
  std::uint64_t element_size = 0;
  std::array<std::size_t, 3> extent{
      1, 1, 1};  ///< in the sense of regions: array layers are the last dimension used
};

struct Sampler {
  Handle<cl_sampler> native;
};

struct Program {
  Handle<cl_program> native;  ///< null where its creation failed
  cl_int status = CL_SUCCESS;
  std::shared_ptr<Context> context;
  int jobs = 0;  ///< not yet done, guarded by the BuildThread
};

struct Kernel {
  Handle<cl_kernel> native;
  std::shared_ptr<Program> program;
  /// What was set as argument, and must be there still at a launch; null for values.
  struct Arg {
    bool object = false;
    std::weak_ptr<const void> target;
  };
  std::vector<Arg> args;
};

/// Objects of one kind by their ids. One whose creation failed stays as failed. Main thread.
template <typename T>
class Table {
 public:
  explicit Table(const char* kind) : kind_(kind) {}

  void add(ObjectId id, std::shared_ptr<T> object) { insert(id, {std::move(object), CL_SUCCESS}); }
  void add_failed(ObjectId id, cl_int status) { insert(id, {nullptr, status}); }

  /// Throws RuleBroken for an id that was never given or is released, ClError for an object that could not be
  /// made.
  const std::shared_ptr<T>& get(ObjectId id) const {
    const auto entry = entries_.find(id);
    if (entry == entries_.end())
      throw RuleBroken(std::string(kind_) + " " + std::to_string(id) + " does not exist");
    if (!entry->second.object)
      throw ClError(entry->second.status,
                    std::string(kind_) + " " + std::to_string(id) + " could not be created");
    return entry->second.object;
  }
  bool contains(ObjectId id) const { return entries_.contains(id); }
  bool erase(ObjectId id) { return entries_.erase(id) > 0; }

 private:
  struct Entry {
    std::shared_ptr<T> object;
    cl_int status = CL_SUCCESS;
  };
  void insert(ObjectId id, Entry entry) {
    if (id == 0 || !entries_.emplace(id, std::move(entry)).second)
      throw RuleBroken(std::string(kind_) + " " + std::to_string(id) + " exists already");
  }

  const char* kind_;
  std::unordered_map<ObjectId, Entry> entries_;
};

}  // namespace clique::daemon::opencl
