// Commands: kernels, buffers, markers and barriers.
#include <algorithm>
#include <cstring>

#include "daemon/backend/common/kernel_args.hpp"
#include "daemon/backend/opencl/opencl_backend.hpp"

namespace clique::daemon::opencl {

void OpenClBackend::set_arg(Kernel& kernel, const protocol::KernelArg& arg) {
  check_argument(arg.index, kernel.args.size());
  if (kernel.parts_program) kernel.values[arg.index] = arg;
  set_arg(kernel, kernel.native.get(), arg);
  if (kernel.parts_native) set_arg(kernel, kernel.parts_native.get(), arg);
}

void OpenClBackend::set_arg(Kernel& kernel, cl_kernel native, const protocol::KernelArg& arg) {
  Kernel::Arg& kept = kernel.args[arg.index];
  // If setting it fails, the argument has no value.
  kept = {true, {}};
  switch (arg.kind) {
    case protocol::KernelArg::Value:
      check(clSetKernelArg(native, arg.index, arg.value.size(), arg.value.data()), "clSetKernelArg");
      kept = {};
      break;
    case protocol::KernelArg::Local:
      check(clSetKernelArg(native, arg.index, arg.number, nullptr), "clSetKernelArg");
      kept = {};
      break;
    case protocol::KernelArg::NullObject: {
      const cl_mem null = nullptr;
      check(clSetKernelArg(native, arg.index, sizeof null, &null), "clSetKernelArg");
      kept = {};
      break;
    }
    case protocol::KernelArg::Object:
      if (samplers_.contains(arg.number)) {
        const auto& sampler = samplers_.get(arg.number);
        const cl_sampler object = sampler->native.get();
        check(clSetKernelArg(native, arg.index, sizeof object, &object), "clSetKernelArg");
        kept.target = sampler;
      } else {
        const auto& memory = memory_.get(arg.number);
        const cl_mem object = memory->native.get();
        check(clSetKernelArg(native, arg.index, sizeof object, &object), "clSetKernelArg");
        kept.target = memory;
      }
      break;
    case protocol::KernelArg::Pointer: {
      const auto& memory = memory_.placed(arg.number);
      const std::uint64_t offset = pointer_offset(arg, memory->size);
      check(clSetKernelArgSVMPointer(native, arg.index, memory->placed.get() + offset),
            "clSetKernelArgSVMPointer");
      kept.target = memory;
      break;
    }
    default:
      throw RuleBroken("argument " + std::to_string(arg.index) + " of kernel '" + kernel.name +
                       "' is set to the unknown kind " + std::to_string(static_cast<unsigned>(arg.kind)));
  }
}

void OpenClBackend::handle(protocol::RunKernel&& message) {
  check_dimensions(message);
  const bool whole = message.part.whole();
  if (const protocol::LaunchPart& part = message.part; !whole) {
    message.offset.resize(message.global.size());
    message.offset[part.dimension] += part.begin;
    message.global[part.dimension] = part.end - part.begin;
  }
  const std::size_t dimensions = message.global.size();
  const KernelWithArgs<Kernel> launched = set_args(
      kernels_, message, [this](Kernel& kernel, const protocol::KernelArg& arg) { set_arg(kernel, arg); });
  Aftermath counted;
  counted.kernel = true;
  submit(message.command, std::move(counted), [&](const Submission& to) {
    if (launched.failure) throw ClError(*launched.failure);
    Kernel& kernel = *launched.kernel;
    if (!message.expected.empty())
      throw ClError(CL_INVALID_OPERATION,
                    "kernel '" + kernel.name +
                        "' cannot check what it accesses: only those for NVIDIA GPUs through "
                        "CUDA can");
    const cl_kernel native = whole ? kernel.native.get() : native_of_parts(kernel);
    for (const ObjectId id : message.reached) memory_.placed(id);
    for (std::size_t i = 0; i < kernel.args.size(); ++i)
      if (kernel.args[i].object && kernel.args[i].target.expired())
        throw ClError(CL_INVALID_KERNEL_ARGS, "argument " + std::to_string(i) + " of kernel '" + kernel.name +
                                                  "' is an object that was released");
    // clEnqueueTask gives no range: it runs one work-item.
    const std::uint64_t one = 1;
    const auto sizes = [](const std::vector<std::uint64_t>& list) {
      return list.empty() ? nullptr : list.data();
    };
    const cl_int status =
        clEnqueueNDRangeKernel(to.queue, native, static_cast<cl_uint>(std::max<std::size_t>(dimensions, 1)),
                               sizes(message.offset), dimensions == 0 ? &one : message.global.data(),
                               dimensions == 0 ? &one : sizes(message.local), to.count, to.waits, to.event);
    if (status == CL_SUCCESS && kernel_limit_.active()) kernel_limit_.add(*to.event, kernel.name);
    return status;
  });
}

void OpenClBackend::read(const Command& command, Aftermath aftermath, ObjectId id, std::uint64_t offset,
                         std::span<std::byte> to) {
  submit(command, std::move(aftermath), [&](const Submission& submission) {
    const Memory& memory = *memory_.buffer(id);
    check_range(offset, to.size(), memory.size, "a read");
    return clEnqueueReadBuffer(submission.queue, memory.native.get(), CL_FALSE, offset, to.size(), to.data(),
                               submission.count, submission.waits, submission.event);
  });
}

void OpenClBackend::write(const Command& command, const protocol::Payload& from, ObjectId id,
                          std::uint64_t offset) {
  submit(command, Aftermath::keeping(from.owner), [&](const Submission& submission) {
    const Memory& memory = *memory_.buffer(id);
    check_range(offset, from.bytes.size(), memory.size, "a write");
    return clEnqueueWriteBuffer(submission.queue, memory.native.get(), CL_FALSE, offset, from.bytes.size(),
                                from.bytes.data(), submission.count, submission.waits, submission.event);
  });
}

void OpenClBackend::handle(protocol::ReadBuffer&& message) {
  check_part(message.size);
  const auto block = outgoing(message.size);
  read(message.command, Aftermath::sending(block, message.size, message.part), message.buffer, message.offset,
       {block.get(), message.size});
}

void OpenClBackend::handle(protocol::WriteBuffer&& message) {
  check_part(message.data.bytes.size());
  write(message.command, message.data, message.buffer, message.offset);
}

void OpenClBackend::handle(protocol::ReadToSegment&& message) {
  const auto place = surroundings_.peers.segment(message.segment, message.at, message.size);
  read(message.command, Aftermath::keeping(place), message.buffer, message.offset,
       {place.get(), message.size});
}

void OpenClBackend::handle(protocol::WriteFromSegment&& message) {
  const auto place = surroundings_.peers.segment(message.segment, message.at, message.size);
  write(message.command, {{place.get(), message.size}, place}, message.buffer, message.offset);
}

void OpenClBackend::handle(protocol::ReadBufferRect&& message) {
  const std::uint64_t size = volume(message.region);
  check_part(size);
  const auto block = outgoing(size);
  submit(message.command, Aftermath::sending(block, size, message.part), [&](const Submission& to) {
    const Memory& memory = *memory_.buffer(message.buffer);
    check_rect(message.origin, message.region, message.row_pitch, message.slice_pitch, memory.size);
    const std::array<std::size_t, 3> begin{};
    return clEnqueueReadBufferRect(to.queue, memory.native.get(), CL_FALSE, native(message.origin).data(),
                                   begin.data(), native(message.region).data(), message.row_pitch,
                                   message.slice_pitch, 0, 0, block.get(), to.count, to.waits, to.event);
  });
}

void OpenClBackend::handle(protocol::WriteBufferRect&& message) {
  const auto bytes = message.data.bytes;
  check_part(bytes.size());
  check_data_size(volume(message.region), bytes.size());
  submit(message.command, Aftermath::keeping(message.data.owner), [&](const Submission& to) {
    const Memory& memory = *memory_.buffer(message.buffer);
    check_rect(message.origin, message.region, message.row_pitch, message.slice_pitch, memory.size);
    const std::array<std::size_t, 3> begin{};
    return clEnqueueWriteBufferRect(to.queue, memory.native.get(), CL_FALSE, native(message.origin).data(),
                                    begin.data(), native(message.region).data(), message.row_pitch,
                                    message.slice_pitch, 0, 0, bytes.data(), to.count, to.waits, to.event);
  });
}

void OpenClBackend::handle(protocol::CopyBuffer&& message) {
  submit(message.command, {}, [&](const Submission& to) {
    const Memory& source = *memory_.buffer(message.source);
    const Memory& destination = *memory_.buffer(message.destination);
    check_range(message.source_offset, message.size, source.size, "a copy's source");
    check_range(message.destination_offset, message.size, destination.size, "a copy's destination");
    return clEnqueueCopyBuffer(to.queue, source.native.get(), destination.native.get(), message.source_offset,
                               message.destination_offset, message.size, to.count, to.waits, to.event);
  });
}

void OpenClBackend::handle(protocol::CopyBufferRect&& message) {
  submit(message.command, {}, [&](const Submission& to) {
    const Memory& source = *memory_.buffer(message.source);
    const Memory& destination = *memory_.buffer(message.destination);
    check_rect(message.source_origin, message.region, message.source_pitch[0], message.source_pitch[1],
               source.size);
    check_rect(message.destination_origin, message.region, message.destination_pitch[0],
               message.destination_pitch[1], destination.size);
    return clEnqueueCopyBufferRect(
        to.queue, source.native.get(), destination.native.get(), native(message.source_origin).data(),
        native(message.destination_origin).data(), native(message.region).data(), message.source_pitch[0],
        message.source_pitch[1], message.destination_pitch[0], message.destination_pitch[1], to.count,
        to.waits, to.event);
  });
}

void OpenClBackend::handle(protocol::FillBuffer&& message) {
  submit(message.command, {}, [&](const Submission& to) {
    const Memory& memory = *memory_.buffer(message.buffer);
    check_range(message.offset, message.size, memory.size, "a fill");
    return clEnqueueFillBuffer(to.queue, memory.native.get(), message.pattern.data(), message.pattern.size(),
                               message.offset, message.size, to.count, to.waits, to.event);
  });
}

void OpenClBackend::handle(protocol::Marker&& message) {
  const Command& command = message.command;
  std::shared_ptr<Queue> queue;
  try {
    queue = queues_.get(command.queue);
    if (!queue->in_order && !command.waits.empty()) {
      // Some drivers' markers wait for the whole queue whatever their wait list says, as PoCL's do. So the
      // command's event is a user event.
      std::vector<cl_event> waits;
      std::vector<CommandReports::Entry> after;
      resolve(command.waits, waits, after);
      if (queue->barrier) waits.push_back(queue->barrier.get());
      join(command, queue, retained(waits), std::move(after));
      // A native marker that waits for it is put into the queue for later commands that follow everything. It
      // does no harm if it waits for more.
      if (const Event* const joined = events_.find(command.id)) waits = {joined->native.get()};
      Handle<cl_event> marker;
      if (clEnqueueMarkerWithWaitList(queue->native.get(), static_cast<cl_uint>(waits.size()), waits.data(),
                                      marker.put()) != CL_SUCCESS)
        return;
      entered(queue, marker, true);
      // PoCL crashes if an event fails that nobody holds a reference to.
      watcher_.watch(marker, [](cl_int /*status*/) {});
      return;
    }
  } catch (const ClError& error) {
    refuse(command, queue.get(), error);
    return;
  }
  Aftermath ordering;
  ordering.everything_before = true;
  submit(command, std::move(ordering), [](const Submission& to) {
    return clEnqueueMarkerWithWaitList(to.queue, to.count, to.waits, to.event);
  });
}

void OpenClBackend::handle(protocol::Barrier&& message) {
  Aftermath ordering;
  ordering.everything_before = message.command.waits.empty();
  ordering.everything_after = true;
  submit(message.command, std::move(ordering), [](const Submission& to) {
    return clEnqueueBarrierWithWaitList(to.queue, to.count, to.waits, to.event);
  });
}

}  // namespace clique::daemon::opencl
