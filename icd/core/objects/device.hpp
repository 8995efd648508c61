#pragma once

#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "icd/common/object.hpp"
#include "protocol/descriptions.hpp"
#include "protocol/ids.hpp"

namespace clique::icd {

class Worker;

/// A node's device, a sub-device, or a combined device. Root devices live as long as the process; their
/// reference count is always 1.
class Device final : public Object<_cl_device_id, Kind::Device, CL_INVALID_DEVICE> {
 public:
  Device(Worker& worker, protocol::DeviceId id, protocol::DeviceDescription description, Ref<Device> parent,
         std::vector<cl_device_partition_property> partition);
  /// A combined device: an OpenCL device that consists of others, its members. It is its first member for
  /// all that is not divided among them.
  /// @param members two or more root devices, which are alike (combined_devices.hpp)
  explicit Device(std::vector<Ref<Device>> members);
  ~Device() override;

  /// The members of a combined device; none for all others.
  const std::vector<Ref<Device>>& members() const { return members_; }
  bool is_combined() const { return !members_.empty(); }

  /// Whether it can have sparse buffers (protocol::CreateBuffer::sparse); a combined device, whether all of
  /// its members can, on a worker each.
  bool has_sparse_buffers() const { return sparse_buffers_; }
  /// Bytes of the largest allocation that is on one device, and not divided among members.
  cl_ulong largest_on_one() const {
    return room_on_member_ != 0 ? room_on_member_ : value<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  }

  Worker& worker() const { return worker_; }
  protocol::DeviceId id() const { return id_; }
  const Ref<Device>& parent() const { return parent_; }
  const std::vector<cl_device_partition_property>& partition() const { return partition_; }

  /// The answer to clGetDeviceInfo(name): the node's, corrected where this platform differs. Empty if the
  /// device has no such property.
  std::optional<std::span<const std::byte>> property(cl_device_info name) const;
  /// The property as a T; T{} if the device does not have it.
  template <typename T>
  T value(cl_device_info name) const {
    T result{};
    const auto bytes = property(name);
    if (bytes && bytes->size() >= sizeof result) std::memcpy(&result, bytes->data(), sizeof result);
    return result;
  }
  /// The property as a list of Ts; empty if the device does not have it.
  template <typename T>
  std::vector<T> list(cl_device_info name) const {
    std::vector<T> result;
    const auto bytes = property(name);
    if (!bytes) return result;
    result.resize(bytes->size() / sizeof(T));
    if (!result.empty()) std::memcpy(result.data(), bytes->data(), result.size() * sizeof(T));
    return result;
  }
  /// The property as a string, without the closing zero.
  std::string text(cl_device_info name) const;
  bool is_gpu() const { return (value<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU) != 0; }
  bool has_images() const { return value<cl_bool>(CL_DEVICE_IMAGE_SUPPORT) == CL_TRUE; }
  /// Whether pointers into shared virtual memory are valid on the device as they are on the host.
  bool has_svm() const { return value<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES) != 0; }
  /// Whether the device can use host and shared allocations (cl_intel_unified_shared_memory), which are this
  /// process's memory.
  bool maps_host_memory() const { return value<cl_bitfield>(CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL) != 0; }
  /// Whether the device is a CPU of this process's host, which has no faster memory than the host's.
  bool is_processor_of_host() const {
    return maps_host_memory() && (value<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  }
  /// The formats for exactly one of the access flags and one image type, as pairs of channel order and
  /// channel type.
  std::span<const std::array<std::uint32_t, 2>> image_formats(cl_mem_flags access,
                                                              cl_mem_object_type type) const;

  /// clCreateSubDevices. Waits for the node. Throws Error with the status that the node's driver returns.
  std::vector<Ref<Device>> partition(std::span<const cl_device_partition_property> properties);

 private:
  /// Corrects the node's answers where this platform differs. All corrections are made here.
  void correct_properties();
  /// Programs rely on the zero at the end of texts, which a node may leave out.
  void close_texts();
  void correct_handles();
  void correct_names();
  void correct_capabilities();
  void correct_extensions();
  /// Adds the answers that cl_khr_extended_versioning promises and older drivers do not give.
  void add_versions();
  void set_bytes(cl_device_info name, std::span<const std::byte> value);
  template <typename T>
  void set(cl_device_info name, const T& value) {
    set_bytes(name, std::as_bytes(std::span(&value, 1)));
  }
  template <typename T>
  void set_list(cl_device_info name, const std::vector<T>& list) {
    set_bytes(name, std::as_bytes(std::span(list)));
  }
  void set_text(cl_device_info name, const std::string& value);
  // Of a combined device, from its members' answers.
  template <typename T>
  void set_least(cl_device_info name);
  void set_combined_names();
  void add_memory_sizes();

  Worker& worker_;
  protocol::DeviceId id_;
  Ref<Device> parent_;
  std::vector<cl_device_partition_property> partition_;
  std::map<cl_device_info, protocol::Bytes> properties_;
  std::vector<protocol::ImageFormats> image_formats_;
  bool sparse_buffers_ = false;
  cl_ulong room_on_member_ = 0;
  std::vector<Ref<Device>> members_;
};

}  // namespace clique::icd
