// cl_khr_command_buffer_mutable_dispatch.
#include "icd/core/recordings/mutable_command.hpp"

#include <algorithm>
#include <span>

#include "icd/api/entry_points.hpp"
#include "icd/api/works.hpp"
#include "icd/core/recordings/command_buffer.hpp"

namespace clique::icd::api {

namespace {

template <typename T>
void require_list(const char* name, const T* list, cl_uint count) {
  require((count == 0) == (list == nullptr), CL_INVALID_VALUE, name,
          list == nullptr ? " is NULL" : " is not NULL", ", and its number of elements is ", count);
}

std::vector<const DispatchConfig*> configs_of(cl_uint count, const UpdateType* types,
                                              const void* const* configs) {
  require_list("config_types", types, count);
  require_list("configs", configs, count);
  std::vector<const DispatchConfig*> all;
  for (cl_uint i = 0; i < count; ++i) {
    require(types[i] == kDispatchConfigType, CL_INVALID_VALUE, "config_types[", i, "] is ", types[i],
            "; only CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR is defined");
    require(configs[i] != nullptr, CL_INVALID_VALUE, "configs[", i, "] is NULL");
    all.push_back(static_cast<const DispatchConfig*>(configs[i]));
  }
  return all;
}

std::vector<const DispatchConfig*> configs_of(const OlderBaseConfig& base) {
  require(base.type == OlderBaseConfig::kType, CL_INVALID_VALUE, "the type of mutable_config is ", base.type,
          ", not CL_STRUCTURE_TYPE_MUTABLE_BASE_CONFIG_KHR");
  require(base.next == nullptr, CL_INVALID_VALUE, "next of mutable_config is not NULL");
  require(base.num_mutable_dispatch != 0, CL_INVALID_VALUE, "num_mutable_dispatch is 0");
  require_list("mutable_dispatch_list", base.mutable_dispatch_list, base.num_mutable_dispatch);
  std::vector<const DispatchConfig*> all;
  for (const OlderDispatchConfig& one : std::span(base.mutable_dispatch_list, base.num_mutable_dispatch)) {
    require(one.type == OlderDispatchConfig::kType, CL_INVALID_VALUE, "the type of element ", all.size(),
            " of mutable_dispatch_list is ", one.type, ", not CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR");
    require(one.next == nullptr, CL_INVALID_VALUE, "next of element ", all.size(),
            " of mutable_dispatch_list is not NULL");
    all.push_back(&one.config);
  }
  return all;
}

/// Whether all work-groups of the range have the same size.
bool uniform(const NdRange& range) {
  for (cl_uint i = 0; i < range.dimensions; ++i)
    if (range.local[i] != 0 && range.global[i] % range.local[i] != 0) return false;
  return true;
}

/// Throws Error(CL_INVALID_OPERATION) if the configuration changes what the launch's properties do not allow.
void require_allowed(const DispatchConfig& config, const MutableCommand& command, cl_uint dimensions) {
  const auto fields = command.traits().fields;
  const auto check = [fields](bool changed, cl_mutable_dispatch_fields_khr field, const char* what) {
    require(!changed || (fields & field) != 0, CL_INVALID_OPERATION, "the command was recorded without ",
            what, " among the fields that can be updated");
  };
  require(config.work_dim == 0 || config.work_dim == dimensions, CL_INVALID_OPERATION, "work_dim is ",
          config.work_dim, "; the command was recorded with ", dimensions);
  check(config.global_work_offset != nullptr, CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR, "the global offset");
  check(config.global_work_size != nullptr, CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR, "the global size");
  check(config.local_work_size != nullptr, CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR, "the local size");
  check(config.num_args != 0 || config.num_svm_args != 0, CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, "the arguments");
  check(config.num_exec_infos != 0, CL_MUTABLE_DISPATCH_EXEC_INFO_KHR, "the execution information");
  require_list("arg_list", config.arg_list, config.num_args);
  require_list("arg_svm_list", config.arg_svm_list, config.num_svm_args);
  require_list("exec_info_list", config.exec_info_list, config.num_exec_infos);
}

/// The range of a launch after an update.
NdRange updated_range(const DispatchConfig& config, const MutableCommand& command,
                      const MutableCommand::Launch& launch) {
  const NdRange& known = launch.range;
  NdRange next = known;
  const auto take = [&](std::array<std::size_t, 3>& to, const size_t* from) {
    if (from != nullptr) std::copy_n(from, known.dimensions, to.begin());
  };
  take(next.offset, config.global_work_offset);
  take(next.global, config.global_work_size);
  take(next.local, config.local_work_size);
  const bool local = config.local_work_size != nullptr || known.local[0] != 0;
  const std::array<std::size_t, 3> group = next.local;
  next = nd_range(*command.traits().queue, *launch.arguments, next.dimensions, next.offset.data(),
                  next.global.data(), local ? next.local.data() : nullptr);
  // The size of the groups is not looked at if there are none.
  if (next.empty()) next.local = group;
  require(uniform(known) == uniform(next), CL_INVALID_OPERATION, "the work-groups would ",
          uniform(next) ? "become" : "no longer be", " uniform");
  return next;
}

/// Applies a configuration to a launch whose arguments nobody else has.
void apply(const DispatchConfig& config, const MutableCommand& command, MutableCommand::Launch& launch) {
  Kernel& kernel = *launch.arguments;
  require_allowed(config, command, launch.range.dimensions);
  for (const cl_mutable_dispatch_arg_khr& arg : std::span(config.arg_list, config.num_args))
    kernel.set_arg(arg.arg_index, arg.arg_size, arg.arg_value);
  for (const cl_mutable_dispatch_arg_khr& arg : std::span(config.arg_svm_list, config.num_svm_args))
    set_svm_arg(kernel, arg.arg_index, arg.arg_value);
  for (const cl_mutable_dispatch_exec_info_khr& info :
       std::span(config.exec_info_list, config.num_exec_infos))
    set_exec_info(kernel, info.param_name, info.param_value_size, info.param_value);
  if (config.global_work_offset != nullptr || config.global_work_size != nullptr ||
      config.local_work_size != nullptr)
    launch.range = updated_range(config, command, launch);
}

/// The first sizes of an array, as many as the launch has dimensions.
std::vector<size_t> sizes(const std::array<std::size_t, 3>& values, const NdRange& range) {
  return {values.begin(), values.begin() + range.dimensions};
}

}  // namespace

cl_int CL_API_CALL clUpdateMutableCommandsKHR(cl_command_buffer_khr command_buffer, const Word w0,
                                              const Word w1, const Word w2) try {
  const Ref<CommandBuffer> object = get<CommandBuffer>(command_buffer);
  require(object->state() != CL_COMMAND_BUFFER_STATE_RECORDING_KHR, CL_INVALID_OPERATION,
          "the command buffer is not finalised");
  require(object->is_mutable(), CL_INVALID_OPERATION,
          "the command buffer was created without CL_COMMAND_BUFFER_MUTABLE_KHR");
  // NOLINTBEGIN(performance-no-int-to-ptr): the words came as pointers
  const std::vector<const DispatchConfig*> configs =
      w0 > kLargestCount ? configs_of(*reinterpret_cast<const OlderBaseConfig*>(w0))
                         : configs_of(static_cast<cl_uint>(w0), reinterpret_cast<const UpdateType*>(w1),
                                      reinterpret_cast<const void* const*>(w2));
  // NOLINTEND(performance-no-int-to-ptr)
  std::vector<CommandBuffer::Update> updates;
  for (const DispatchConfig* config : configs) {
    const Ref<MutableCommand> command = get<MutableCommand>(config->command);
    require(command->owner() == object.get(), CL_INVALID_MUTABLE_COMMAND_KHR,
            "the command belongs to another command buffer");
    auto update = std::find_if(updates.begin(), updates.end(), [&](const CommandBuffer::Update& earlier) {
      return earlier.command == command;
    });
    if (update == updates.end()) {
      update = updates.insert(updates.end(), {command, command->launch()});
      update->launch.arguments = update->launch.arguments->clone();
    }
    apply(*config, *command, update->launch);
  }
  object->update(std::move(updates));
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

cl_int CL_API_CALL clGetMutableCommandInfoKHR(cl_mutable_command_khr command,
                                              cl_mutable_command_info_khr param_name, size_t param_value_size,
                                              void* param_value, size_t* param_value_size_ret) try {
  const Ref<MutableCommand> object = get<MutableCommand>(command);
  const InfoWriter write(param_value_size, param_value, param_value_size_ret);
  const MutableCommand::Traits& traits = object->traits();
  const NdRange range = object->launch().range;
  switch (param_name) {
    case CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR:
      write(static_cast<cl_command_queue>(traits.queue.get()));
      break;
    case CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR:
      write(object->owner());
      break;
    case CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR:
      write(cl_command_type{CL_COMMAND_NDRANGE_KERNEL});
      break;
    case kCommandPropertiesArray:
      write(traits.properties);
      break;
    case CL_MUTABLE_DISPATCH_KERNEL_KHR:
      write(static_cast<cl_kernel>(traits.kernel.get()));
      break;
    case CL_MUTABLE_DISPATCH_DIMENSIONS_KHR:
      write(range.dimensions);
      break;
    case CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR:
      write(sizes(range.offset, range));
      break;
    case CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR:
      write(sizes(range.global, range));
      break;
    case CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR:
      write(sizes(range.local, range));
      break;
    default:
      throw unknown_param(param_name);
  }
  return CL_SUCCESS;
}
CLIQUE_CATCH_STATUS

}  // namespace clique::icd::api
