#include "daemon/backend/cuda/cuda_backend.hpp"

#include "daemon/backend/cuda/describe.hpp"
#include "daemon/backend/cuda/gpu/cufile.hpp"
#include "daemon/backend/cuda/make_backend.hpp"
#include "daemon/worker/limits/watchdog.hpp"

namespace clique::daemon::cuda {

namespace {

/// Names of the kernels among the tasks, each once, for an error message; about 200 characters at most.
std::string kernels_among(const std::vector<TaskRef>& tasks) {
  constexpr std::size_t kEnough = 200;
  std::string names;
  for (const TaskRef& task : tasks) {
    const std::string name = "'" + std::string(task->kernel) + "'";
    if (!task->kernel.empty() && names.find(name) == std::string::npos && names.size() < kEnough)
      names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

}  // namespace

CudaBackend::CudaBackend(const Surroundings& surroundings, const Device& device)
    : surroundings_(surroundings),
      device_(device),
      description_(describe(device)),
      pinned_(surroundings.reporter),
      device_memory_(device),
      scheduler_(
          device.context, [this](CUresult result) { fault(result); },
          {surroundings.kernel_limit, [this](const std::string& kernel) { overdue(kernel); }},
          &surroundings.pacer),
      reports_(surroundings.reporter, surroundings.order),
      objects_(surroundings, device_memory_, scheduler_),
      commands_(reports_, scheduler_, objects_.queues()),
      events_(surroundings.reporter, reports_, commands_, scheduler_, objects_.queues()),
      graphs_(commands_, capture_, objects_.queues(), surroundings.kernel_limit),
      buffers_(surroundings.reporter, surroundings.peers, commands_, pinned_, filler_, host_copies_,
               objects_.memory()),
      images_(commands_, pinned_, filler_, device_memory_, objects_.memory()),
      pushes_(
          {surroundings.peers, surroundings.tasks, commands_, scheduler_, pinned_, host_copies_, objects_},
          device.native),
      programs_(surroundings.reporter, device_, objects_.contexts()),
      kernels_({device_, surroundings.reporter, device_memory_, pinned_, commands_, capture_, objects_,
                programs_}) {
  for (protocol::DeviceDescription& one : description_.devices) surroundings_.memory.restrict(one);
  if (!device.mps) surroundings_.pacer.take_turns();
  // Until the first launch of a kernel that prints.
  surroundings_.reporter.expect_prints(false);
  warm();
}

void CudaBackend::warm() {
  pinned_.staging(1);
  device_memory_.warm();
  programs_.warm([this] {
    // The kernels for small reads and writes use blocks at their addresses in the host.
    if (device_.attribute(CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM) != 0)
      buffers_.load_kernels();
  });
}

void CudaBackend::handle(protocol::Release&& message) {
  for (const protocol::ObjectId id : message.objects)
    if (!objects_.release(id) && !kernels_.release(id) && !programs_.release(id)) throw unknown_release(id);
  for (const protocol::CommandId id : message.events) commands_.events().erase(id);
}

void CudaBackend::fault(CUresult result) {
  end_session([result](const std::vector<TaskRef>& under_way) {
    const std::string kernels = kernels_among(under_way);
    return std::string("the GPU failed with ") + name_of(result) +
           (kernels.empty() ? "" : "; under way: kernel " + kernels);
  });
}

void CudaBackend::overdue(const std::string& kernel) {
  const bool first = end_session(
      [why = over_limit(kernel, surroundings_.kernel_limit)](const std::vector<TaskRef>&) { return why; });
  if (first) end_soon();
}

bool CudaBackend::end_session(std::function<std::string(const std::vector<TaskRef>&)> why) {
  if (ending_.exchange(true)) return false;
  surroundings_.tasks.post([this, why = std::move(why)] {
    const std::string reason = why(scheduler_.completions().abandon());
    events_.fail_pending();
    throw DeviceFailed(reason);
  });
  return true;
}

std::shared_ptr<std::byte> CudaBackend::memory_for_part(std::size_t size) {
  // The caller's thread may be one that knows nothing of CUDA.
  driver().CtxSetCurrent(device_.context);
  return pinned_.incoming(size);
}

bool CudaBackend::reads_files() {
  if (surroundings_.cufile == CuFileUse::Never) return false;
  driver().CtxSetCurrent(device_.context);
  return open_cufile(surroundings_.cufile);
}

std::unique_ptr<DirectFile> CudaBackend::open_direct(Fd file) {
  return register_file(std::move(file), device_.context);
}

}  // namespace clique::daemon::cuda

namespace clique::daemon {

std::unique_ptr<Backend> make_cuda_backend(const Surroundings& surroundings, std::uint32_t device) {
  return std::make_unique<cuda::CudaBackend>(surroundings, cuda::open_device(device));
}

}  // namespace clique::daemon
