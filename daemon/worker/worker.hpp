#pragma once

#include <memory>

namespace clique::daemon {

class Backend;
class ControlChannel;
struct Surroundings;
struct WorkerOptions;

/// Makes the backend for the driver that the options name. Throws std::runtime_error, with a reason for
/// people, when the driver cannot be used.
using BackendFactory = std::unique_ptr<Backend> (*)(const WorkerOptions& options,
                                                    const Surroundings& surroundings);

/// Loads the driver of NVIDIA GPUs, and sends what it says of them. Throws std::runtime_error.
using GpuLister = void (*)(const ControlChannel& control);

/// `cliqued worker`: runs one session on one driver of the node. Does not return: it leaves the process at
/// once, even while the driver's threads are busy.
[[noreturn]] void run_worker(const ControlChannel& control, WorkerOptions options,
                             BackendFactory make_backend, GpuLister send_gpus);

}  // namespace clique::daemon
