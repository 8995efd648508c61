#include "icd/core/objects/device.hpp"

#include <CL/cl_ext.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "icd/common/program_choices.hpp"
#include "icd/core/objects/extensions.hpp"
#include "icd/core/objects/platform.hpp"
#include "icd/core/recordings/names.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/nodes/nodes.hpp"
#include "protocol/batch.hpp"
#include "protocol/messages.hpp"
#include "protocol/messages/objects.hpp"

namespace clique::icd {

namespace {

/// Reserves the ids for the sub-devices of one partition, whose number only the node knows.
protocol::DeviceId reserve_sub_device_ids() {
  constexpr protocol::DeviceId kMost = 1U << 16U;
  static std::atomic<protocol::DeviceId> next{protocol::kFirstSubDevice};
  return next.fetch_add(kMost, std::memory_order_relaxed);
}

/// The version in texts such as "OpenCL 3.0 …" and "OpenCL C 1.2 …".
cl_version version_in(const std::string& text) {
  unsigned major = 0;
  unsigned minor = 0;
  const auto digit = text.find_first_of("0123456789");
  if (digit == std::string::npos || std::sscanf(text.c_str() + digit, "%u.%u", &major, &minor) != 2)
    return CL_MAKE_VERSION(1, 0, 0);
  return CL_MAKE_VERSION(major, minor, 0);
}

std::vector<cl_name_version> with_version(std::string_view names, char separator, cl_version version) {
  std::string text(names);
  std::replace(text.begin(), text.end(), separator, ' ');
  std::vector<cl_name_version> list;
  for (const std::string_view name : words(text)) list.push_back(name_version(name, version));
  return list;
}

/// Bytes of a sparse buffer that a member of a combined device may have besides its part of the buffer.
constexpr cl_ulong kAtBorders = cl_ulong{4} << 20U;

}  // namespace

Device::Device(Worker& worker, protocol::DeviceId id, protocol::DeviceDescription description,
               Ref<Device> parent, std::vector<cl_device_partition_property> partition)
    : worker_(worker),
      id_(id),
      parent_(std::move(parent)),
      partition_(std::move(partition)),
      image_formats_(std::move(description.image_formats)),
      sparse_buffers_(description.sparse_buffers) {
  for (protocol::Property& property : description.properties)
    properties_[property.name] = std::move(property.value);
  correct_properties();
}

Device::Device(std::vector<Ref<Device>> members)
    : worker_(members.front()->worker_),
      id_(members.front()->id_),
      properties_(members.front()->properties_),
      image_formats_(members.front()->image_formats_),
      members_(std::move(members)) {
  // Undivided commands use one member, which then needs all of the memory that they use.
  for (const cl_device_info limit : {CL_DEVICE_GLOBAL_MEM_SIZE, CL_DEVICE_MAX_MEM_ALLOC_SIZE,
                                     CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE})
    set_least<cl_ulong>(limit);
  for (const cl_device_info limit :
       {CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_MAX_PARAMETER_SIZE, CL_DEVICE_IMAGE2D_MAX_WIDTH,
        CL_DEVICE_IMAGE2D_MAX_HEIGHT, CL_DEVICE_IMAGE3D_MAX_WIDTH, CL_DEVICE_IMAGE3D_MAX_HEIGHT,
        CL_DEVICE_IMAGE3D_MAX_DEPTH, CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, CL_DEVICE_IMAGE_MAX_BUFFER_SIZE})
    set_least<std::size_t>(limit);
  auto item_sizes = list<std::size_t>(CL_DEVICE_MAX_WORK_ITEM_SIZES);
  cl_uint units = 0;
  for (const Ref<Device>& member : members_) {
    const auto own = member->list<std::size_t>(CL_DEVICE_MAX_WORK_ITEM_SIZES);
    item_sizes.resize(std::min(item_sizes.size(), own.size()));
    for (std::size_t i = 0; i < item_sizes.size(); ++i) item_sizes[i] = std::min(item_sizes[i], own[i]);
    units += member->value<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS);
  }
  set_list(CL_DEVICE_MAX_WORK_ITEM_SIZES, item_sizes);
  set(CL_DEVICE_MAX_COMPUTE_UNITS, units);
  set(CL_DEVICE_PARTITION_MAX_SUB_DEVICES, cl_uint{0});
  set_list(CL_DEVICE_PARTITION_PROPERTIES, std::vector<cl_device_partition_property>{0});
  set(CL_DEVICE_PARTITION_AFFINITY_DOMAIN, cl_device_affinity_domain{0});
  set<cl_device_id>(kSyncDevices, this);
  set_combined_names();
  add_memory_sizes();
}

void Device::add_memory_sizes() {
  std::vector<const Worker*> workers;
  for (const Ref<Device>& member : members_) workers.push_back(&member->worker_);
  std::sort(workers.begin(), workers.end());
  const bool apart = std::adjacent_find(workers.begin(), workers.end()) == workers.end();
  sparse_buffers_ = apart && std::all_of(members_.begin(), members_.end(),
                                         [](const Ref<Device>& member) { return member->sparse_buffers_; });
  if (!sparse_buffers_) return;
  room_on_member_ = value<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  cl_ulong sum = 0;
  for (const Ref<Device>& member : members_) sum += member->value<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE);
  set(CL_DEVICE_GLOBAL_MEM_SIZE, sum);
  // Parts of launches, and so those of buffers, have about the same size on all members. Where they meet, two
  // members have the same bytes, and memory is mapped in larger units than parts have.
  const cl_ulong at_borders =
      std::min(room_on_member_ / 8, kAtBorders + members_.size() * room_on_member_ / 256);
  set(CL_DEVICE_MAX_MEM_ALLOC_SIZE, members_.size() * (room_on_member_ - at_borders));
}

Device::~Device() = default;

template <typename T>
void Device::set_least(cl_device_info name) {
  T least = value<T>(name);
  for (const Ref<Device>& member : members_) least = std::min(least, member->value<T>(name));
  if (property(name)) set(name, least);
}

void Device::set_combined_names() {
  std::string nodes;
  std::array<std::uint8_t, CL_UUID_SIZE_KHR> uuid{};
  for (const Ref<Device>& member : members_) {
    const std::string& node = member->worker_.node().name();
    // Members of one node stand beside each other, mostly.
    if (nodes != node && !nodes.ends_with(", " + node)) nodes += (nodes.empty() ? "" : ", ") + node;
    const auto own = member->value<std::array<std::uint8_t, CL_UUID_SIZE_KHR>>(CL_DEVICE_UUID_KHR);
    // Another one than those of the members, and of their other combinations.
    for (std::size_t i = 0; i < uuid.size(); ++i)
      uuid[i] = static_cast<std::uint8_t>(uuid[i] * 3 + own[i] + 1);
  }
  std::string name = members_.front()->text(CL_DEVICE_NAME);
  name = name.substr(0, name.rfind(" @ "));
  set_text(CL_DEVICE_NAME, "Clique " + std::to_string(members_.size()) + " × " + name + " (" + nodes + ")");
  if (property(CL_DEVICE_UUID_KHR)) set(CL_DEVICE_UUID_KHR, uuid);
}

std::optional<std::span<const std::byte>> Device::property(cl_device_info name) const {
  static constexpr cl_bool kFalse = CL_FALSE;
  const auto available = [](const Ref<Device>& member) { return member->worker_.available(); };
  if (name == CL_DEVICE_AVAILABLE &&
      (!worker_.available() || !std::all_of(members_.begin(), members_.end(), available)))
    return std::as_bytes(std::span(&kFalse, 1));
  const auto found = properties_.find(name);
  if (found == properties_.end()) return std::nullopt;
  return std::as_bytes(std::span(found->second));
}

std::string Device::text(cl_device_info name) const {
  std::string result;
  if (const auto bytes = property(name))
    result.assign(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  return result.substr(0, result.find('\0'));
}

std::span<const std::array<std::uint32_t, 2>> Device::image_formats(cl_mem_flags access,
                                                                    cl_mem_object_type type) const {
  const auto found = std::find_if(
      image_formats_.begin(), image_formats_.end(),
      [&](const protocol::ImageFormats& list) { return list.flags == access && list.image_type == type; });
  if (found == image_formats_.end()) return {};
  return found->formats;
}

std::vector<Ref<Device>> Device::partition(std::span<const cl_device_partition_property> properties) {
  worker_.open();
  protocol::CreateSubDevices message;
  message.parent = id_;
  message.properties.assign(properties.begin(), properties.end());
  message.first = reserve_sub_device_ids();
  auto reply = worker_.link().request<protocol::SubDevicesCreated>(message, Link::kAnswerTimeout);
  require(reply.status == CL_SUCCESS, reply.status, "the driver of node ", worker_.node().name(),
          " does not support this partition of the device");
  std::vector<Ref<Device>> parts;
  parts.reserve(reply.devices.size());
  for (protocol::DeviceDescription& description : reply.devices)
    parts.emplace_back(new Device(worker_, message.first + parts.size(), std::move(description),
                                  Ref<Device>(this), {properties.begin(), properties.end()}));
  return parts;
}

void Device::correct_properties() {
  close_texts();
  correct_handles();
  correct_names();
  correct_capabilities();
  correct_extensions();
  add_versions();
}

void Device::close_texts() {
  for (const cl_device_info name :
       {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DRIVER_VERSION, CL_DEVICE_PROFILE, CL_DEVICE_VERSION,
        CL_DEVICE_OPENCL_C_VERSION, CL_DEVICE_EXTENSIONS, CL_DEVICE_BUILT_IN_KERNELS, CL_DEVICE_IL_VERSION})
    if (property(name)) set_text(name, text(name));
  for (const cl_device_info name : {CL_DEVICE_EXTENSIONS_WITH_VERSION, CL_DEVICE_OPENCL_C_FEATURES,
                                    CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION, CL_DEVICE_ILS_WITH_VERSION,
                                    CL_DEVICE_OPENCL_C_ALL_VERSIONS}) {
    if (!property(name)) continue;
    auto names = list<cl_name_version>(name);
    for (cl_name_version& entry : names) entry.name[sizeof entry.name - 1] = '\0';
    set_list(name, names);
  }
}

void Device::correct_handles() {
  set<cl_platform_id>(CL_DEVICE_PLATFORM, Platform::handle());
  set<cl_device_id>(CL_DEVICE_PARENT_DEVICE, parent_.get());
  // For root devices the list holds only the terminator, as in PoCL: programs read the first element whatever
  // the size.
  set_list(CL_DEVICE_PARTITION_TYPE,
           partition_.empty() ? std::vector<cl_device_partition_property>{0} : partition_);
}

void Device::correct_names() {
  if (worker_.node().use().names_with_node)
    set_text(CL_DEVICE_NAME, text(CL_DEVICE_NAME) + " @ " + worker_.node().name());
  set_text(CL_DRIVER_VERSION,
           text(CL_DRIVER_VERSION) + " (Clique " CLIQUE_VERSION ", node " + worker_.node().name() + ")");
  // The specification requires a space after the version even if nothing follows.
  std::string version = text(CL_DEVICE_VERSION);
  if (version.starts_with("OpenCL ") && version.find(' ', sizeof "OpenCL") == std::string::npos)
    set_text(CL_DEVICE_VERSION, version + ' ');
  if (!property(CL_DEVICE_IL_VERSION)) set_text(CL_DEVICE_IL_VERSION, "");
  // A conformance result of the node's driver was reached without Clique. This value, in the required form,
  // means none.
  set_text(CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, "v0000-01-01-00");
}

void Device::correct_capabilities() {
  set(CL_DEVICE_TYPE, value<cl_device_type>(CL_DEVICE_TYPE) & ~cl_device_type{CL_DEVICE_TYPE_DEFAULT});
  // Host and devices see the same content from command to command. The application's other pointers, to
  // memory or to functions, mean nothing on a node.
  set(CL_DEVICE_SVM_CAPABILITIES, value<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES) &
                                      cl_device_svm_capabilities{CL_DEVICE_SVM_COARSE_GRAIN_BUFFER});
  set(CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool{CL_FALSE});
  // Work-groups that fill a quarter of a multiprocessor hide more latency than one that fills all of it.
  if (worker_.node().use().quarter_of_local_memory &&
      value<cl_device_local_mem_type>(CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL)
    set(CL_DEVICE_LOCAL_MEM_SIZE,
        cl_ulong{quarter_of_local_memory(value<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE))});
  set(CL_DEVICE_EXECUTION_CAPABILITIES, value<cl_device_exec_capabilities>(CL_DEVICE_EXECUTION_CAPABILITIES) &
                                            ~cl_device_exec_capabilities{CL_EXEC_NATIVE_KERNEL});
  set(CL_DEVICE_PIPE_SUPPORT, cl_bool{CL_FALSE});
  set(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, cl_device_device_enqueue_capabilities{0});
  set(CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, cl_command_queue_properties{0});
  for (const cl_device_info absent :
       {CL_DEVICE_MAX_PIPE_ARGS, CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS, CL_DEVICE_PIPE_MAX_PACKET_SIZE,
        CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE,
        CL_DEVICE_MAX_ON_DEVICE_QUEUES, CL_DEVICE_MAX_ON_DEVICE_EVENTS})
    set(absent, cl_uint{0});
  if (property(CL_DEVICE_OPENCL_C_FEATURES)) {
    auto features = list<cl_name_version>(CL_DEVICE_OPENCL_C_FEATURES);
    std::erase_if(features,
                  [](const cl_name_version& feature) { return is_absent_feature(name_of(feature)); });
    set_list(CL_DEVICE_OPENCL_C_FEATURES, features);
  }
}

void Device::correct_extensions() {
  std::vector<cl_name_version> native = list<cl_name_version>(CL_DEVICE_EXTENSIONS_WITH_VERSION);
  // Older drivers report names only. If a driver reports both, the versions of the list win.
  for (const cl_name_version& named :
       with_version(text(CL_DEVICE_EXTENSIONS), ' ', CL_MAKE_VERSION(1, 0, 0))) {
    const bool known = std::any_of(native.begin(), native.end(), [&](const cl_name_version& entry) {
      return name_of(entry) == name_of(named);
    });
    if (!known) native.push_back(named);
  }
  // For the extensions that Clique implements itself, its own version counts.
  const std::vector<cl_name_version> own = own_extensions();
  std::vector<cl_name_version> offered = own;
  if (has_svm()) offered.push_back(name_version("cl_intel_unified_shared_memory", CL_MAKE_VERSION(1, 0, 0)));
  for (const cl_name_version& extension : native) {
    const bool known = std::any_of(own.begin(), own.end(), [&](const cl_name_version& entry) {
      return name_of(entry) == name_of(extension);
    });
    if (!known && carries_extension(name_of(extension))) offered.push_back(extension);
  }
  offered = sorted_by_name(std::move(offered));
  set_text(CL_DEVICE_EXTENSIONS, names_of(offered));
  set_list(CL_DEVICE_EXTENSIONS_WITH_VERSION, offered);
  std::erase_if(properties_, [](const auto& entry) { return belongs_to_absent_extension(entry.first); });
  // Independent of the driver, because the client and its workers record commands.
  const auto queues = value<cl_command_queue_properties>(CL_DEVICE_QUEUE_ON_HOST_PROPERTIES);
  set(CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR, command_buffer_capabilities(queues));
  set(CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR, cl_command_queue_properties{0});
  set(kSupportedQueueProperties, queues | CL_QUEUE_PROFILING_ENABLE);
  set(CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR,
      cl_mutable_dispatch_fields_khr{CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR |
                                     CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR |
                                     CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR | CL_MUTABLE_DISPATCH_ARGUMENTS_KHR |
                                     CL_MUTABLE_DISPATCH_EXEC_INFO_KHR});
  // Commands of one device wait for each other on the device, those of several with the help of their
  // workers.
  Device* root = this;
  while (root->parent_) root = root->parent_.get();
  set(kNumSyncDevices, cl_uint{1});
  set<cl_device_id>(kSyncDevices, root);
  set(CL_DEVICE_SEMAPHORE_TYPES_KHR, cl_semaphore_type_khr{CL_SEMAPHORE_TYPE_BINARY_KHR});
  constexpr cl_bitfield kUsm =
      CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL;
  set(CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL, has_svm() ? kUsm : 0);
  // Host and shared allocations are memory of this process, in which all devices that can map it work.
  const bool shares = has_svm() && worker_.node().use().shares_memory;
  const cl_bitfield mapped = shares ? value<cl_bitfield>(CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL) : 0;
  for (const cl_device_info kind :
       {CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
        CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL})
    set(kind, mapped);
  set(CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL, cl_bitfield{0});
}

void Device::add_versions() {
  const cl_version version = version_in(text(CL_DEVICE_VERSION));
  if (!property(CL_DEVICE_NUMERIC_VERSION)) set(CL_DEVICE_NUMERIC_VERSION, version);
  if (!property(CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR))
    set(CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR, version_in(text(CL_DEVICE_OPENCL_C_VERSION)));
  if (!property(CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION))
    set_list(CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION,
             with_version(text(CL_DEVICE_BUILT_IN_KERNELS), ';', CL_MAKE_VERSION(1, 0, 0)));
  if (!property(CL_DEVICE_ILS_WITH_VERSION)) {
    std::vector<cl_name_version> ils;
    const std::string names = text(CL_DEVICE_IL_VERSION);
    // "SPIR-V_1.2" is version 1.2 of SPIR-V.
    for (const std::string_view il : words(names))
      ils.push_back(name_version(il.substr(0, il.rfind('_')), version_in(std::string(il))));
    set_list(CL_DEVICE_ILS_WITH_VERSION, ils);
  }
}

void Device::set_bytes(cl_device_info name, std::span<const std::byte> value) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(value.data());
  properties_[name].assign(begin, begin + value.size());
}

void Device::set_text(cl_device_info name, const std::string& value) {
  set_bytes(name, std::as_bytes(std::span(value.c_str(), value.size() + 1)));
}

}  // namespace clique::icd
