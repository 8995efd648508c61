// The session's objects on the driver.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "daemon/backend/common/build_thread.hpp"
#include "daemon/backend/common/image_shape.hpp"
#include "daemon/backend/common/table.hpp"
#include "daemon/backend/opencl/native.hpp"
#include "daemon/worker/memory_budget.hpp"
#include "protocol/transport/placed_memory.hpp"

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
  /// In order: what the tail was when a command came that may fail before those before it have ended; without
  /// those that have ended at the front.
  std::deque<Handle<cl_event>> earlier_tails;
  /// Out of order: the native event of the last barrier.
  Handle<cl_event> barrier;
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
  ImageShape shape;  ///< of an image
  /// Of a buffer that has an address, where it begins; null where the driver chose.
  std::shared_ptr<const protocol::PlacedMemory> placed;
  std::uint64_t placed_offset = 0;
  /// Of what the object keeps: a sub-buffer's and an image's over a buffer is that of the buffer.
  MemoryBudget::Share share;
};

struct Sampler {
  Handle<cl_sampler> native;
};

struct Program : Buildable {
  Handle<cl_program> native;  ///< null where its creation failed
  cl_int status = CL_SUCCESS;
  std::shared_ptr<Context> context;
};

struct Kernel {
  std::string name;
  Handle<cl_kernel> native;
  std::shared_ptr<Program> program;
  /// What was set as argument, and must be there still at a launch; null for values.
  struct Arg {
    bool object = false;
    std::weak_ptr<const void> target;
  };
  std::vector<Arg> args;
};

}  // namespace clique::daemon::opencl
