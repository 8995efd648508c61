// cl_khr_command_buffer and cl_khr_command_buffer_multi_device: command buffers themselves. Recording is in
// command_recording.cpp.
#include "icd/core/recordings/command_buffer.hpp"

#include <algorithm>
#include <type_traits>

#include "icd/api/entry_points.hpp"
#include "icd/api/properties.hpp"
#include "icd/api/works.hpp"

namespace clique::icd::api {

namespace {

/// Throws Error(CL_INVALID_CONTEXT) unless all queues belong to the context.
void require_context(const CommandBuffer::Queues& queues, const Context& context) {
  for (const Ref<Queue>& queue : queues)
    require(queue->context().get() == &context, CL_INVALID_CONTEXT,
            "the queues belong to different contexts");
}

/// The device that a sub-device is a part of.
const Device& root_of(const Device& device) {
  return device.parent() ? root_of(*device.parent()) : device;
}

/// Throws Error(CL_INCOMPATIBLE_COMMAND_QUEUE_KHR) if commands of these queues would have to wait for each
/// other across devices.
void require_one_device(const CommandBuffer::Queues& queues) {
  const Device& first = root_of(*queues.front()->device());
  for (const Ref<Queue>& queue : queues)
    require(&root_of(*queue->device()) == &first, CL_INCOMPATIBLE_COMMAND_QUEUE_KHR,
            "CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR is set, and the queues have different devices");
}

/// Throws Error unless the queue can stand in for one that commands were recorded for.
void require_substitute(const Queue& queue, const Queue& recorded) {
  require(queue.context() == recorded.context(), CL_INVALID_CONTEXT, "the queue belongs to another context");
  require(queue.device() == recorded.device(), CL_INVALID_DEVICE,
          "the queue has another device than the one that commands were recorded for");
  const auto supported = queue.device()->value<cl_command_queue_properties>(kSupportedQueueProperties);
  require((queue.properties() & ~supported) == 0, CL_INCOMPATIBLE_COMMAND_QUEUE_KHR,
          "the queue's properties are ", Hex{queue.properties()}, "; command buffers run in queues with ",
          Hex{supported}, " at most");
}

/// Throws Error if the device of the queue cannot run a command that was recorded for another device.
void require_runs_on(const RecordedCommand& command, const Queue& queue) {
  const Device& device = *queue.device();
  bool svm = false;
  bool images = false;
  for (const Access& access : command.accesses) {
    images = images || access.memory->is_image();
    svm = svm || access.memory->svm();
  }
  require(!images || device.value<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) == CL_TRUE, CL_INVALID_OPERATION,
          "a command uses an image, which the queue's device does not support");
  if (const auto* launch = std::get_if<protocol::RunKernel>(&command.message)) {
    svm = svm || !launch->reached.empty() ||
          std::any_of(launch->args.begin(), launch->args.end(), [](const protocol::KernelArg& arg) {
            return arg.kind == protocol::KernelArg::Pointer;
          });
    const NdRange& range = command.range;
    const bool local = range.local[0] != 0;
    nd_range(queue, *command.kernel, range.dimensions, range.offset.data(), range.global.data(),
             local ? range.local.data() : nullptr);
  }
  require(!svm || device.has_svm(), CL_INVALID_OPERATION,
          "a command uses shared virtual memory, which the queue's device does not support");
  const auto alignment = device.value<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  require_memory_fits(device, std::max<std::size_t>(alignment, 1), command.accesses);
}

}  // namespace

cl_command_buffer_khr CL_API_CALL clCreateCommandBufferKHR(cl_uint num_queues, const cl_command_queue* queues,
                                                           const cl_command_buffer_properties_khr* properties,
                                                           cl_int* errcode_ret) try {
  require(num_queues != 0 && queues != nullptr, CL_INVALID_VALUE, "num_queues is ", num_queues,
          queues == nullptr ? " and queues is NULL" : "", "; a command buffer has one queue at least");
  CommandBuffer::Queues list = get_all<Queue>(queues, num_queues);
  require_context(list, *list.front()->context());
  CommandBuffer::Traits traits;
  traits.properties = property_list(properties);
  for_each_property(traits.properties, CL_INVALID_VALUE, [&](auto name, auto value) {
    constexpr cl_properties kFlags =
        CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR | CL_COMMAND_BUFFER_MUTABLE_KHR | kDeviceSideSync;
    if (name == CL_COMMAND_BUFFER_FLAGS_KHR) {
      require((value & ~kFlags) == 0, CL_INVALID_VALUE, "CL_COMMAND_BUFFER_FLAGS_KHR is ",
              Hex{static_cast<std::uint64_t>(value)}, "; the flags ", Hex{kFlags}, " are defined");
      traits.flags = value;
    } else {
      require(name == kDispatchAsserts, CL_INVALID_VALUE, "property ", Hex{static_cast<std::uint64_t>(name)},
              " is not defined");
      require((value & ~kAssertNoAdditionalWorkGroups) == 0, CL_INVALID_VALUE,
              "CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR is ", Hex{static_cast<std::uint64_t>(value)},
              "; only CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR is defined");
      traits.asserts = value;
    }
  });
  if ((traits.flags & kDeviceSideSync) != 0) require_one_device(list);
  return created(new CommandBuffer(std::move(list), std::move(traits)), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

cl_int CL_API_CALL clFinalizeCommandBufferKHR(cl_command_buffer_khr command_buffer) try {
  get<CommandBuffer>(command_buffer)->finalise();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clRetainCommandBufferKHR(cl_command_buffer_khr command_buffer) try {
  get<CommandBuffer>(command_buffer)->retain();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clReleaseCommandBufferKHR(cl_command_buffer_khr command_buffer) try {
  get<CommandBuffer>(command_buffer)->release();
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clEnqueueCommandBufferKHR(cl_uint num_queues, cl_command_queue* queues,
                                             cl_command_buffer_khr command_buffer,
                                             cl_uint num_events_in_wait_list, const cl_event* event_wait_list,
                                             cl_event* event) try {
  const Ref<CommandBuffer> object = get<CommandBuffer>(command_buffer);
  require((num_queues == 0) == (queues == nullptr), CL_INVALID_VALUE, "num_queues is ", num_queues,
          queues == nullptr ? " and queues is NULL" : " and queues is not NULL");
  const CommandBuffer::Queues& recorded = object->queues();
  require(num_queues == 0 || num_queues == recorded.size(), CL_INVALID_VALUE, "num_queues is ", num_queues,
          "; commands were recorded for ", recorded.size());
  const CommandBuffer::Queues substitutes = get_all<Queue>(queues, num_queues);
  for (std::size_t i = 0; i < substitutes.size(); ++i) require_substitute(*substitutes[i], *recorded[i]);
  const CommandBuffer::Queues& used = queues != nullptr ? substitutes : recorded;
  const auto waits = wait_list(*recorded.front()->context(), num_events_in_wait_list, event_wait_list);
  give_event(object->enqueue(used, waits), event);
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetCommandBufferInfoKHR(cl_command_buffer_khr command_buffer,
                                             cl_command_buffer_info_khr param_name, size_t param_value_size,
                                             void* param_value, size_t* param_value_size_ret) try {
  const Ref<CommandBuffer> object = get<CommandBuffer>(command_buffer);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  switch (param_name) {
    case CL_COMMAND_BUFFER_NUM_QUEUES_KHR:
      write(static_cast<cl_uint>(object->queues().size()));
      break;
    case CL_COMMAND_BUFFER_QUEUES_KHR: {
      std::vector<cl_command_queue> queues;
      for (const Ref<Queue>& queue : object->queues()) queues.push_back(queue.get());
      write(queues);
      break;
    }
    case CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR:
      write(object->api_references());
      break;
    case CL_COMMAND_BUFFER_STATE_KHR:
      write(object->state());
      break;
    case CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR:
      write(object->traits().properties);
      break;
    case kCommandBufferContext:
      write(static_cast<cl_context>(object->queues().front()->context().get()));
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_command_buffer_khr CL_API_CALL clRemapCommandBufferKHR(cl_command_buffer_khr command_buffer,
                                                          cl_bool automatic, cl_uint num_queues,
                                                          const cl_command_queue* queues, cl_uint num_handles,
                                                          const cl_mutable_command_khr* handles,
                                                          cl_mutable_command_khr* handles_ret,
                                                          cl_int* errcode_ret) try {
  const Ref<CommandBuffer> object = get<CommandBuffer>(command_buffer);
  const std::size_t recorded = object->queues().size();
  require(num_queues != 0 && queues != nullptr, CL_INVALID_VALUE, "num_queues is ", num_queues,
          queues == nullptr ? " and queues is NULL" : "");
  require(automatic != CL_FALSE || num_queues == recorded, CL_INVALID_VALUE, "num_queues is ", num_queues,
          "; the command buffer has ", recorded, " queues, and automatic is CL_FALSE");
  require((num_handles == 0) == (handles == nullptr) && (num_handles == 0) == (handles_ret == nullptr),
          CL_INVALID_VALUE, "num_handles is ", num_handles,
          "; handles and handles_ret must be given if it is not 0, and NULL otherwise");
  CommandBuffer::Queues list = get_all<Queue>(queues, num_queues);
  require_context(list, *object->queues().front()->context());
  if ((object->traits().flags & kDeviceSideSync) != 0) require_one_device(list);
  std::vector<Ref<MutableCommand>> commands;
  for (cl_uint i = 0; i < num_handles; ++i) {
    commands.push_back(find<MutableCommand>(handles[i]));
    require(commands.back() && commands.back()->owner() == object.get(), CL_INVALID_VALUE, "handles[", i,
            "] is not a command of the command buffer");
  }
  // Chosen by the library, the commands of one queue stay together: they are likely to use the same content.
  std::vector<std::size_t> to;
  for (std::size_t i = 0; i < recorded; ++i) to.push_back(i % num_queues);
  const Ref<CommandBuffer> copy = object->remapped(std::move(list), to, require_runs_on, commands);
  for (cl_uint i = 0; i < num_handles; ++i) handles_ret[i] = commands[i].get();
  return created(copy.get(), errcode_ret);
}
CLIQUE_CATCH_ERRCODE(errcode_ret)

}  // namespace clique::icd::api
