// The session's objects, with the driver's handles.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "daemon/backend/common/build_thread.hpp"
#include "daemon/backend/common/command_reports.hpp"
#include "daemon/backend/common/memory_table.hpp"
#include "daemon/backend/common/program_files.hpp"
#include "daemon/backend/opencl/native.hpp"
#include "daemon/worker/limits/memory_budget.hpp"
#include "protocol/image_shape.hpp"

namespace clique::daemon::opencl {

using protocol::ObjectId;

struct Context {
  Handle<cl_context> native;
  std::vector<cl_device_id> devices;
  /// Whether all devices are processors that work in the host memory of buffers.
  bool in_place = false;
};

struct Queue : QueueState {
  Handle<cl_command_queue> native;
  std::shared_ptr<Context> context;
  cl_device_id device = nullptr;
  std::uint32_t place = 0;        ///< of the device, for the Pacer
  std::int64_t clock_offset = 0;  ///< to be added to the device's times, in ns
  /// In order: the last command's event. Watching it costs less than a marker (half as much on PoCL).
  Handle<cl_event> tail;
  /// In order: former tails. Each was the tail when a command with a wait list came, which may fail before
  /// the commands before it have ended. Those at the front that have ended are removed.
  std::deque<Handle<cl_event>> earlier_tails;
  /// Out of order: the last barrier's event.
  Handle<cl_event> barrier;
  /// In order: whether the last command waits for something elsewhere; only while the session is paced.
  bool waits_elsewhere = false;
  /// Whether it has commands that were not flushed yet.
  bool touched = false;
};

struct Memory {
  Handle<cl_mem> native;
  std::shared_ptr<Context> context;
  std::uint64_t size = 0;  ///< bytes; of an image, of its pixels without gaps
  bool image = false;
  protocol::ImageShape shape;  ///< of an image
  /// The first byte of a buffer at an address that the client chose; null if the driver chose.
  std::shared_ptr<std::byte> placed;
  /// The first byte of a buffer in whose memory the devices work, so that the host may copy from and to it
  /// between commands; null: only the driver may.
  std::shared_ptr<std::byte> host;
  /// Of the memory. A sub-buffer and an image over a buffer share the buffer's; that of a segment has its
  /// own.
  MemoryBudget::Share share;

  bool is_image() const { return image; }
  std::uint64_t transfer_unit() const { return image ? std::max<std::uint64_t>(1, shape.element_size) : 1; }
};

struct Sampler {
  Handle<cl_sampler> native;
};

struct Program : Buildable {
  Handle<cl_program> native;  ///< null if its creation failed
  cl_int status = CL_SUCCESS;
  std::shared_ptr<Context> context;
  /// Of a program from source. It does not change once the program is known to others.
  std::string source;
  /// The program for launches of parts. It is built when the first part is launched.
  struct ForParts {
    const std::string options;  ///< of the client
    const std::shared_ptr<const FileSet> files;
    const std::vector<cl_device_id> devices;
    Handle<cl_program> native = {};  ///< the main thread's
  };
  /// Of the latest build. Null if parts need no program of their own.
  std::shared_ptr<ForParts> for_parts;
};

struct Kernel {
  std::string name;
  Handle<cl_kernel> native;
  std::shared_ptr<Program> program;
  struct Arg {
    bool object = false;               ///< whether `target` must still exist at a launch
    std::weak_ptr<const void> target;  ///< the buffer, image or sampler
  };
  std::vector<Arg> args;
  std::shared_ptr<Program::ForParts> parts_program;     ///< null: `native` runs parts, too
  Handle<cl_kernel> parts_native;                       ///< of parts_program; null before the first part
  std::map<std::uint32_t, protocol::KernelArg> values;  ///< of the arguments, if there is a parts_program
};

}  // namespace clique::daemon::opencl
