#include "daemon/server/devices/gpu_monitor.hpp"

#include <dlfcn.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "daemon/common/log.hpp"
#include "protocol/no_signals.hpp"

namespace clique::daemon {

namespace {

/// How old answers may become before the driver is asked again.
constexpr std::chrono::milliseconds kRecent{500};
/// How long the daemon's end waits for an answer of the driver.
constexpr std::chrono::milliseconds kLastAnswer{500};

// The part of nvml.h that is needed. NVIDIA guarantees that it stays the same.
struct NvmlMemory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct NvmlUtilisation {
  unsigned gpu;
  unsigned memory;
};
struct NvmlProcessSample {
  unsigned pid;
  unsigned long long time;  // in us since 1970
  unsigned sm;              // percent of the time since the sample before
  unsigned memory;
  unsigned encoder;
  unsigned decoder;
};
using NvmlDevice = void*;
constexpr int kNvmlSuccess = 0;
constexpr int kNvmlNotFound = 6;  // there are no samples: no process has used the GPU
/// Samples of processes that are read at a time, and how old they may be.
constexpr std::size_t kMostSamples = 1024;
constexpr std::chrono::microseconds kLately = std::chrono::seconds(2);

class Nvml {
 public:
  /// Throws std::runtime_error if NVML is missing, or does not start.
  Nvml() {
    // Never closed: the driver may have threads.
    void* const library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(::dlerror());
    int (*init)() = nullptr;
    find(library, "nvmlInit_v2", init);
    find(library, "nvmlDeviceGetHandleByUUID", by_uuid_);
    find(library, "nvmlDeviceGetMemoryInfo", memory_);
    find(library, "nvmlDeviceGetUtilizationRates", utilisation_);
    processes_ = reinterpret_cast<decltype(processes_)>(::dlsym(library, "nvmlDeviceGetProcessUtilization"));
    if (const int error = init(); error != kNvmlSuccess)
      throw std::runtime_error("nvmlInit_v2 returns " + std::to_string(error));
  }

  GpuReading read(const std::string& uuid) const {
    GpuReading reading;
    NvmlDevice device = nullptr;
    if (by_uuid_(("GPU-" + uuid).c_str(), &device) != kNvmlSuccess &&
        by_uuid_(("MIG-" + uuid).c_str(), &device) != kNvmlSuccess)
      return reading;
    NvmlMemory memory{};
    if (memory_(device, &memory) == kNvmlSuccess) {
      reading.memory_total = memory.total;
      reading.memory_free = memory.free;
    }
    NvmlUtilisation utilisation{};
    if (utilisation_(device, &utilisation) == kNvmlSuccess) reading.utilisation = utilisation.gpu;
    reading.processes = processes(device);
    return reading;
  }

 private:
  template <typename Function>
  static void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (function == nullptr) throw std::runtime_error(std::string("libnvidia-ml.so.1 lacks ") + name);
  }

  std::optional<std::map<pid_t, std::uint64_t>> processes(NvmlDevice device) const {
    if (processes_ == nullptr) return std::nullopt;
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now().time_since_epoch());
    std::vector<NvmlProcessSample> samples(kMostSamples);
    auto count = static_cast<unsigned>(samples.size());
    const auto since = static_cast<unsigned long long>((now - kLately).count());
    const int error = processes_(device, samples.data(), &count, since);
    if (error == kNvmlNotFound) count = 0;
    if ((error != kNvmlSuccess && error != kNvmlNotFound) || count > samples.size()) return std::nullopt;
    std::map<pid_t, std::pair<unsigned long long, std::uint64_t>> last;
    for (const NvmlProcessSample& sample : std::span(samples).first(count))
      if (auto& one = last[static_cast<pid_t>(sample.pid)]; sample.time >= one.first)
        one = {sample.time, sample.sm};
    std::map<pid_t, std::uint64_t> result;
    for (const auto& [pid, sample] : last) result.emplace(pid, sample.second);
    return result;
  }

  int (*by_uuid_)(const char*, NvmlDevice*) = nullptr;
  int (*memory_)(NvmlDevice, NvmlMemory*) = nullptr;
  int (*utilisation_)(NvmlDevice, NvmlUtilisation*) = nullptr;
  int (*processes_)(NvmlDevice, NvmlProcessSample*, unsigned*,
                    unsigned long long) = nullptr;  // may be missing
};

}  // namespace

struct GpuMonitor::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<std::vector<std::string>> wanted;  // until it is answered
  Readings readings;
  bool ending = false;

  void serve() {
    std::optional<Nvml> nvml;
    try {
      nvml.emplace();
    } catch (const std::exception& error) {
      spdlog::debug("memory and load of NVIDIA GPUs are unknown: {}", error.what());
    }
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return ending || wanted; });
      if (ending) return;
      const std::vector<std::string> uuids = *wanted;
      lock.unlock();
      Readings fresh;
      if (nvml)
        for (const std::string& uuid : uuids) fresh[uuid] = nvml->read(uuid);
      lock.lock();
      readings = std::move(fresh);
      wanted.reset();
      changed.notify_all();
    }
  }
};

GpuMonitor::GpuMonitor() : state_(std::make_shared<State>()) {}

GpuMonitor::~GpuMonitor() {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, kLastAnswer, [this] { return !state_->wanted; });
  state_->ending = true;
  state_->changed.notify_all();
}

void GpuMonitor::ask(std::vector<std::string> uuids) {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(state_->mutex);
  if (uuids.empty() || state_->wanted || (started_ && now - asked_ < kRecent)) return;
  asked_ = now;
  if (!started_) {
    const protocol::NoSignals quiet;
    try {
      std::thread([state = state_] { state->serve(); }).detach();
    } catch (const std::system_error& error) {
      spdlog::debug("memory and load of NVIDIA GPUs are unknown: {}", error.what());
      return;
    }
    started_ = true;
  }
  state_->wanted = std::move(uuids);
  state_->changed.notify_all();
}

bool GpuMonitor::asking() const {
  const std::lock_guard lock(state_->mutex);
  return state_->wanted.has_value();
}

GpuMonitor::Readings GpuMonitor::readings() const {
  const std::lock_guard lock(state_->mutex);
  return state_->readings;
}

}  // namespace clique::daemon
