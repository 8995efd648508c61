#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "icd/core/objects/device.hpp"

namespace clique::protocol {
class ZmqContext;
}

namespace clique::icd {

class Node;
class Worker;

/// The one platform. Its handle costs nothing. The first query for a device asks the nodes for their devices;
/// a context opens sessions with the nodes of its devices. Sessions stay open until the process ends: nothing
/// of the cluster is ever destroyed. Any thread.
///
/// The environment variable CLIQUE_DEVICES chooses the root devices and their order. It is a list, separated
/// by commas, of positions in the full list (0 is the first), of parts of device or node names, and of UUIDs,
/// upper and lower case alike. A name stands for all devices that match. Unset or empty: all devices, node by
/// node.
class Platform {
 public:
  /// The platform of this process, with its devices. A forked child gets its own.
  static Platform& instance();
  /// The handle, the same for the life of the process. Opens nothing.
  static cl_platform_id handle();
  /// Throws Error(CL_INVALID_PLATFORM) for any other handle.
  static Platform& get(cl_platform_id handle);
  /// CL_PLATFORM_NAME and CL_PLATFORM_VENDOR: "Clique", or what the driver of the first device answers if
  /// the user has chosen that for this program (CLIQUE_VENDOR). Opens nothing in the former case.
  struct Label {
    std::string name;
    std::string vendor;
  };
  static Label label();
  /// False in a process that serves this platform to others (CLIQUE_WORKER is set) and must not become its
  /// client, and where the user has switched Clique off (CLIQUE_NODES=off).
  static bool offered();

  const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }
  /// Called at the end of the process: tells the nodes that have a session of it (Link::say_goodbye).
  void say_goodbye() const;
  /// The combined devices (CLIQUE_COMBINE), then the root devices that CLIQUE_DEVICES chooses.
  const std::vector<Ref<Device>>& devices() const { return devices_; }
  /// The extensions that every device has, or that need no device: sorted by name, each once.
  std::vector<cl_name_version> extensions() const;

  /// Whether Clique supports a device's extension. Others are not offered.
  static bool carries_extension(std::string_view name);

 private:
  Platform();
  ~Platform();  // never called
  /// Adds the combined devices, first.
  void combine();

  std::unique_ptr<protocol::ZmqContext> zmq_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Ref<Device>> devices_;
};

}  // namespace clique::icd
