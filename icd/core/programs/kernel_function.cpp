#include "icd/core/programs/kernel_function.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "icd/trace/trace.hpp"

namespace clique::icd {

namespace {

constexpr std::pair<std::string_view, std::size_t> kScalars[] = {
    {"char", 1},           {"uchar", 1},         {"unsigned char", 1}, {"short", 2},        {"ushort", 2},
    {"unsigned short", 2}, {"int", 4},           {"uint", 4},          {"unsigned int", 4}, {"long", 8},
    {"ulong", 8},          {"unsigned long", 8}, {"half", 2},          {"float", 4},        {"double", 8},
};

constexpr std::pair<std::string_view, cl_mem_object_type> kImages[] = {
    {"image1d_t", CL_MEM_OBJECT_IMAGE1D},
    {"image1d_buffer_t", CL_MEM_OBJECT_IMAGE1D_BUFFER},
    {"image1d_array_t", CL_MEM_OBJECT_IMAGE1D_ARRAY},
    {"image2d_t", CL_MEM_OBJECT_IMAGE2D},
    {"image2d_depth_t", CL_MEM_OBJECT_IMAGE2D},
    {"image2d_array_t", CL_MEM_OBJECT_IMAGE2D_ARRAY},
    {"image2d_array_depth_t", CL_MEM_OBJECT_IMAGE2D_ARRAY},
    {"image3d_t", CL_MEM_OBJECT_IMAGE3D},
};

template <typename Table>
auto lookup(const Table& table, std::string_view name) -> decltype(std::begin(table)->second) {
  for (const auto& [key, value] : table)
    if (key == name) return value;
  return 0;
}

/// The number of elements that a vector type's suffix stands for in memory; 0 for any other suffix.
std::size_t vector_elements(std::string_view suffix) {
  if (suffix == "2") return 2;
  if (suffix == "3" || suffix == "4") return 4;
  if (suffix == "8") return 8;
  if (suffix == "16") return 16;
  return 0;
}

/// Recognises memory objects and samplers even if the kernel's author has renamed their types: only images
/// and pipes have an access qualifier.
Parameter::Class class_of(const protocol::ArgDescription& description) {
  if ((description.qualifier & CL_KERNEL_ARG_TYPE_PIPE) != 0) return Parameter::Pipe;
  if (description.access != CL_KERNEL_ARG_ACCESS_NONE || lookup(kImages, description.type) != 0)
    return Parameter::Image;
  if (description.type == "sampler_t") return Parameter::Sampler;
  if (description.type == "queue_t") return Parameter::DeviceQueue;
  switch (description.address) {
    case CL_KERNEL_ARG_ADDRESS_GLOBAL:
    case CL_KERNEL_ARG_ADDRESS_CONSTANT:
      return Parameter::Pointer;
    case CL_KERNEL_ARG_ADDRESS_LOCAL:
      return Parameter::Local;
    case 0:
      return description.size == sizeof(cl_mem) ? Parameter::Any : Parameter::Value;
    default:
      return Parameter::Value;
  }
}

template <typename T>
T number(const protocol::Bytes* bytes) {
  T value{};
  if (bytes != nullptr && bytes->size() >= sizeof value) std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

/// 0 means that the driver does not report the limit.
std::size_t limit(std::size_t told) {
  return told != 0 ? told : std::numeric_limits<std::size_t>::max();
}

/// CL_DEVICE_VERSION is "OpenCL <major>.<minor> …".
cl_version version_of(const Device& device) {
  const std::string text = device.text(CL_DEVICE_VERSION);
  constexpr std::size_t kMajor = std::char_traits<char>::length("OpenCL ");
  if (text.size() < kMajor + 3) return CL_MAKE_VERSION(1, 0, 0);
  return CL_MAKE_VERSION(static_cast<cl_version>(text[kMajor] - '0'),
                         static_cast<cl_version>(text[kMajor + 2] - '0'), 0);
}

bool has_non_uniform_groups(const Device& device, cl_version version) {
  if (version >= CL_MAKE_VERSION(3, 0, 0))
    return device.value<cl_bool>(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT) == CL_TRUE;
  return version >= CL_MAKE_VERSION(2, 0, 0);
}

}  // namespace

std::size_t size_of_type(std::string_view name) {
  const std::size_t digits = std::min(name.find_first_of("0123456789"), name.size());
  const std::size_t element = lookup(kScalars, name.substr(0, digits));
  return digits == name.size() ? element : element * vector_elements(name.substr(digits));
}

Parameter parameter_of(const protocol::ArgDescription& description) {
  Parameter parameter;
  parameter.name = description.name;
  parameter.kind = class_of(description);
  switch (parameter.kind) {
    case Parameter::Value:
      parameter.size = description.size != 0 ? description.size : size_of_type(description.type);
      break;
    case Parameter::Any:
      parameter.size = description.size;
      break;
    case Parameter::Pointer:
      parameter.read_only = description.address == CL_KERNEL_ARG_ADDRESS_CONSTANT ||
                            (description.qualifier & CL_KERNEL_ARG_TYPE_CONST) != 0;
      break;
    case Parameter::Image:
      parameter.image_type = lookup(kImages, description.type);
      parameter.access = description.access;
      parameter.read_only = description.access == CL_KERNEL_ARG_ACCESS_READ_ONLY;
      break;
    default:
      break;
  }
  return parameter;
}

const protocol::Bytes* KernelFunction::OnDevice::property(cl_kernel_work_group_info name) const {
  for (const protocol::Property& property : work_group)
    if (property.name == name) return &property.value;
  return nullptr;
}

const KernelFunction::OnDevice* KernelFunction::on(const Device& device) const {
  for (const auto* list : {&devices, &members})
    for (const OnDevice& entry : *list)
      if (entry.device.get() == &device) return &entry;
  return nullptr;
}

KernelFunction function_of(const protocol::KernelDescription& description, const BuildTraits& traits) {
  KernelFunction function;
  function.name = description.name;
  function.traced_name = trace::kept(function.name);
  function.entry = description.entry;
  if (traits.from_source) function.attributes = description.attributes;
  function.checked_without = traits.checked_without;
  function.parameters.resize(description.arg_count);
  if (description.args.size() != description.arg_count) return function;
  std::transform(description.args.begin(), description.args.end(), function.parameters.begin(), parameter_of);
  if (traits.tells_args) function.descriptions = description.args;
  return function;
}

KernelFunction::OnDevice on_device(Ref<Device> device, std::vector<protocol::Property> work_group,
                                   const BuildTraits& traits) {
  KernelFunction::OnDevice entry{std::move(device), std::move(work_group), {}};
  const Device& on = *entry.device;
  LaunchLimits& limits = entry.limits;
  limits.dimensions = std::min<cl_uint>(3, on.value<cl_uint>(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS));
  if (limits.dimensions == 0) limits.dimensions = 3;
  const auto item_sizes = on.list<std::size_t>(CL_DEVICE_MAX_WORK_ITEM_SIZES);
  for (std::size_t i = 0; i < limits.item_sizes.size(); ++i)
    limits.item_sizes[i] = limit(i < item_sizes.size() ? item_sizes[i] : 0);
  limits.group_size = std::min(limit(on.value<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE)),
                               limit(number<std::size_t>(entry.property(CL_KERNEL_WORK_GROUP_SIZE))));
  limits.required_group =
      number<std::array<std::size_t, 3>>(entry.property(CL_KERNEL_COMPILE_WORK_GROUP_SIZE));
  limits.largest_id = on.value<cl_uint>(CL_DEVICE_ADDRESS_BITS) == 32
                          ? std::numeric_limits<std::uint32_t>::max()
                          : std::numeric_limits<std::uint64_t>::max();
  limits.alignment = std::max<std::size_t>(1, on.value<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);
  const cl_version version = version_of(on);
  limits.uniform_groups = traits.uniform_groups || !has_non_uniform_groups(on, version);
  limits.empty_ranges = version >= CL_MAKE_VERSION(2, 1, 0);
  return entry;
}

bool same_definition(const KernelFunction& a, const KernelFunction& b) {
  const auto may_be_any = [](const Parameter& parameter) {
    return parameter.kind == Parameter::Unknown || parameter.kind == Parameter::Any;
  };
  return std::equal(a.parameters.begin(), a.parameters.end(), b.parameters.begin(), b.parameters.end(),
                    [&](const Parameter& one, const Parameter& other) {
                      return one.kind == other.kind || may_be_any(one) || may_be_any(other);
                    });
}

}  // namespace clique::icd
