#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>
#include <zmq.hpp>

#include "icd/core/device.hpp"
#include "icd/core/worker.hpp"

namespace clique::icd {

/// The one platform. Its handle costs nothing; the cluster is opened when the first device is asked for.
class Platform {
 public:
  /// The platform of this process. A forked child gets its own.
  static Platform& instance();
  /// The handle, the same for the life of the process.
  static cl_platform_id handle();
  /// Throws Error(CL_INVALID_PLATFORM) unless it is our handle.
  static Platform& get(cl_platform_id handle);

  const std::vector<std::unique_ptr<Worker>>& workers() const { return workers_; }
  const std::vector<Ref<Device>>& devices() const { return devices_; }
  /// Extensions that every device has or that need none.
  std::string extensions() const;

  /// Names of the extensions that Clique itself carries; a device's others are not offered.
  static bool carries_extension(std::string_view name);

 private:
  Platform();
  std::unique_ptr<zmq::context_t> zmq_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Ref<Device>> devices_;
};

}  // namespace clique::icd
