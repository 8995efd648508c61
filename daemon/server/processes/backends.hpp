// The backends that this build of cliqued has. The only place that names all of them.
#pragma once

#include <memory>
#include <vector>

#include "daemon/common/control.hpp"
#include "daemon/server/configuration/nvidia_driver.hpp"

namespace clique::daemon {

class Backend;
struct Surroundings;
struct WorkerOptions;

/// The backend for the driver that the options name. Throws std::runtime_error, with a reason for people,
/// when the driver cannot be used.
std::unique_ptr<Backend> make_backend(const WorkerOptions& options, const Surroundings& surroundings);

/// The drivers of this node with their devices. A GPU that is used through CUDA is not listed a second time
/// for NVIDIA's OpenCL driver.
std::vector<ListedPlatform> list_platforms(NvidiaDriver nvidia);

/// Sends the GPUs that are used through CUDA, as a worker does that is started for any of them. Their driver
/// is loaded into this process.
void send_gpus(const ControlChannel& control);

}  // namespace clique::daemon
