#pragma once

#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "icd/core/object.hpp"
#include "protocol/messages.hpp"

namespace clique::icd {

class Worker;

/// A device of a node, or a part of one. Root devices live as long as the process; their count is always 1.
class Device final : public Object<_cl_device_id, Kind::Device, CL_INVALID_DEVICE> {
 public:
  Device(Worker& worker, protocol::DeviceId id, protocol::DeviceDescription description, Ref<Device> parent,
         std::vector<cl_device_partition_property> partition);
  ~Device() override;

  Worker& worker() const { return worker_; }
  protocol::DeviceId id() const { return id_; }
  const Ref<Device>& parent() const { return parent_; }
  const std::vector<cl_device_partition_property>& partition() const { return partition_; }

  /// The node's answer to clGetDeviceInfo(name), changed where the truth of this platform is another; empty
  /// where the device has no such property.
  std::optional<std::span<const std::byte>> property(cl_device_info name) const;
  /// The property as a T; T{} where the device has none.
  template <typename T>
  T value(cl_device_info name) const {
    T result{};
    const auto bytes = property(name);
    if (bytes && bytes->size() >= sizeof result) std::memcpy(&result, bytes->data(), sizeof result);
    return result;
  }
  std::string text(cl_device_info name) const;
  /// Formats for exactly one of the access flags and one image type, as channel order and type.
  std::span<const std::array<std::uint32_t, 2>> image_formats(cl_mem_flags access,
                                                              cl_mem_object_type type) const;

  /// clCreateSubDevices. Throws what the node's driver answers.
  std::vector<Ref<Device>> partition(std::span<const cl_device_partition_property> properties);

 private:
  void correct_properties();
  template <typename T>
  void set(cl_device_info name, const T& value);
  void set_text(cl_device_info name, const std::string& value);

  Worker& worker_;
  protocol::DeviceId id_;
  Ref<Device> parent_;
  std::vector<cl_device_partition_property> partition_;
  std::map<cl_device_info, protocol::Bytes> properties_;
  std::vector<protocol::ImageFormats> image_formats_;
};

}  // namespace clique::icd
