#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "icd/core/objects/device.hpp"
#include "icd/core/workers/worker.hpp"

namespace clique::icd {

/// The one platform. Its handle costs nothing; the nodes are asked for their devices when the first device
/// is, and sessions are opened with those whose devices are used. They stay open until the process ends:
/// nothing of the cluster is ever destroyed. Any thread.
///
/// The environment variable CLIQUE_DEVICES chooses the root devices that are offered, and their order: a
/// list, separated by commas, of positions in the full list (0 is the first) and of parts of device or node
/// names, upper and lower case alike, each of which stands for all devices that match. Unset or empty: all
/// devices, node by node.
class Platform {
 public:
  /// The platform of this process, its devices known. A forked child gets its own.
  static Platform& instance();
  /// The handle, the same for the life of the process. Opens nothing.
  static cl_platform_id handle();
  /// Throws Error(CL_INVALID_PLATFORM) unless it is our handle.
  static Platform& get(cl_platform_id handle);
  /// False in a process that serves this platform to others (CLIQUE_WORKER is set), which must not be its own
  /// client.
  static bool offered();

  const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }
  /// The process ends: tells the nodes that have a session of it. Link::say_goodbye.
  void say_goodbye() const;
  /// The root devices, as CLIQUE_DEVICES has them.
  const std::vector<Ref<Device>>& devices() const { return devices_; }
  /// Extensions that every device has or that need none, in the order of their names, each once.
  std::vector<cl_name_version> extensions() const;

  /// Extensions that Clique itself carries; a device's others are not offered.
  static bool carries_extension(std::string_view name);

 private:
  Platform();
  std::unique_ptr<zmq::context_t> zmq_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Ref<Device>> devices_;
};

}  // namespace clique::icd
