// The session's objects on the GPU.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "daemon/backend/common/build_thread.hpp"
#include "daemon/backend/common/table.hpp"
#include "daemon/backend/cuda/execution/module.hpp"
#include "daemon/backend/cuda/execution/scheduler.hpp"
#include "daemon/backend/cuda/gpu/image_store.hpp"

namespace clique::daemon::cuda {

using protocol::ObjectId;

/// One device, one context: what OpenCL's has is the client's affair.
struct Context {};

struct Queue {
  ObjectId id = 0;
  std::shared_ptr<Lane> lane;
  bool in_order = true;
  bool profiling = false;
  /// First failure of a command without an event since the last Finish.
  std::atomic<cl_int> deferred{CL_SUCCESS};
  /// In order: the last command; else the last barrier.
  TaskRef last;
  /// Out of order: what may not have ended.
  std::vector<TaskRef> pending;
  /// What a later report has to come after: in order, the last command's; else all that are not out, and the
  /// barrier's.
  ReportOrder::EntryRef last_report;
  std::vector<ReportOrder::EntryRef> pending_reports;
};

struct Memory {
  std::uint64_t size = 0;   ///< of a buffer; of an image, its bytes without gaps
  CUdeviceptr address = 0;  ///< of a buffer
  bool placed = false;      ///< where the client wanted it
  /// Keeps the memory: a sub-buffer's and an image's over a buffer is that of the buffer.
  std::shared_ptr<const CUdeviceptr> allocation;
  std::unique_ptr<ImageStore> image;  ///< null for a buffer
  MemoryBudget::Share share;          ///< of the same
};

struct Sampler {
  std::uint32_t number = 0;  ///< library/abi.h
};

struct Program : Buildable {
  protocol::ProgramKind kind = protocol::ProgramKind::Source;
  std::string source;
  protocol::Bytes il;
  cl_int status = CL_SUCCESS;  ///< of its creation
  // Of the last build, compilation or link; the BuildThread's while it has jobs.
  cl_int build_status = CL_BUILD_NONE;
  cl_int binary_status = CL_SUCCESS;
  std::string log;
  std::shared_ptr<const compiler::ProgramBinary> binary;  ///< null where there is none
  protocol::Bytes bytes;                                  ///< `binary`, serialised
  std::shared_ptr<const Module> module;                   ///< of an executable that was built
};

struct Kernel {
  std::shared_ptr<const Module> module;
  const Function* function = nullptr;  ///< in `module`
  /// The parameter block with what was set so far.
  std::vector<std::uint8_t> parameters;
  struct Arg {
    bool set = false;
    bool object = false;  ///< what was set must be there still at a launch
    std::weak_ptr<const void> target;
    std::uint64_t local_size = 0;
  };
  std::vector<Arg> args;
};

}  // namespace clique::daemon::cuda
