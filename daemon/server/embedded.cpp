#include "daemon/server/embedded.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "daemon/common/environment.hpp"
#include "daemon/common/log.hpp"
#include "daemon/common/vendor_ids.hpp"
#include "daemon/server/configuration/config_error.hpp"
#include "daemon/server/configuration/device_filter.hpp"
#include "daemon/server/configuration/settings.hpp"
#include "daemon/server/connections/file_desk.hpp"
#include "daemon/server/processes/child_process.hpp"
#include "daemon/server/processes/worker_lines.hpp"
#include "daemon/worker/options.hpp"

namespace clique::daemon {

namespace {

namespace fs = std::filesystem;

/// The folders that CLIQUE_FILE_ROOTS names; by default all files of the user, as the program itself has.
/// Throws std::invalid_argument.
FileRoots wanted_file_roots() {
  const auto text = environment("CLIQUE_FILE_ROOTS");
  if (!text || text->empty()) return FileRoots::everything();
  try {
    return FileRoots::parse(*text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("CLIQUE_FILE_ROOTS: ") + error.what());
  }
}

/// The devices of this host that CLIQUE_HOST_DEVICES selects. Throws ConfigError.
std::vector<SelectedPlatform> wanted_devices(const std::vector<ListedPlatform>& platforms) {
  try {
    return select_devices(environment("CLIQUE_HOST_DEVICES").value_or(""), platforms);
  } catch (const ConfigError& error) {
    throw ConfigError(std::string("CLIQUE_HOST_DEVICES: ") + error.what());
  }
}

/// What CLIQUE_NVIDIA names. Throws std::invalid_argument.
NvidiaDriver wanted_nvidia_driver() {
  const std::string text = environment("CLIQUE_NVIDIA").value_or("");
  if (text.empty()) return NvidiaDriver::Cuda;
  try {
    return parse_nvidia_driver(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("CLIQUE_NVIDIA: ") + error.what());
  }
}

/// What CLIQUE_CUFILE names. Throws std::invalid_argument.
CuFileUse wanted_cufile_use() {
  const std::string text = environment("CLIQUE_CUFILE").value_or("");
  if (text.empty()) return CuFileUse::Auto;
  try {
    return parse_cufile_use(text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("CLIQUE_CUFILE: ") + error.what());
  }
}

/// Whether this host may have GPUs that can be used through CUDA. Knows without loading a driver.
bool may_have_gpus() {
  const auto exists = [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0; };
  for (const char* device : {"/dev/nvidiactl", "/dev/nvmap", "/dev/dxg"})
    if (exists(device)) return true;
  // Where a simulator of the driver would be.
  std::istringstream folders(environment("LD_LIBRARY_PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (!folder.empty() && exists(folder + "/libcuda.so.1")) return true;
  return false;
}

/// Whether an OpenCL driver may be installed besides NVIDIA's and Clique, as far as the files tell that name
/// the drivers.
bool may_have_other_drivers() {
  if (environment("CLIQUE_NODE_ICD_VENDORS")) return true;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator("/etc/OpenCL/vendors", missing)) {
    std::ifstream lines(entry.path());
    for (std::string line; std::getline(lines, line);)
      if (!line.empty() && line.find("libnvidia-opencl.so") == std::string::npos &&
          line.find("libclique.so") == std::string::npos)
        return true;
  }
  return false;
}

constexpr const char* kNoDriver =
    "no OpenCL driver is installed on this host. Install one, such as pocl-opencl-icd, or set CLIQUE_NODES "
    "to the nodes to use";

/// The workers of an application. One of a GPU starts when the application asks for it, because a GPU that is
/// open takes time to open and memory. The others describe their devices, and so start at once.
class PrivateWorkers {
 public:
  /// Throws std::runtime_error, std::invalid_argument and ConfigError, with the reason for people.
  explicit PrivateWorkers(const ControlChannel& application)
      : application_(application), roots_(wanted_file_roots()) {
    options_.session.node = host_name();
    options_.session.ports = kAnyPort;
    options_.session.cufile = wanted_cufile_use();
    const NvidiaDriver nvidia = wanted_nvidia_driver();
    make_nvidia_devices(nvidia);
    std::vector<protocol::Driver> gpus;
    const std::vector<SelectedPlatform> platforms = wanted_devices(list(nvidia, gpus));
    for (const SelectedPlatform& platform : platforms) {
      workers_.push_back({platform});
      // If there is just one driver, it will be used.
      if (platform.kind == PlatformKind::OpenCl || platforms.size() == 1) start(workers_.back());
    }
    if (std::none_of(platforms.begin(), platforms.end(), is_gpu)) spare_.reset();
    describe(gpus);
  }

  /// Tells the application of its drivers.
  void offer() const {
    for (const Worker& worker : workers_) application_.send(worker.driver);
    application_.send(WorkersStarted{});
  }

  /// Serves the application until it is gone.
  void serve();

 private:
  /// The worker of one driver, which is known to the application by its position.
  struct Worker {
    SelectedPlatform platform;
    protocol::Driver driver = {};
    std::optional<ChildProcess> process = {};
    std::optional<protocol::WorkerAddress> ready = {};  ///< its address, until the application knows it
    bool starting = false;
    bool wanted = false;   ///< the application waits for it
    bool opening = false;  ///< the desk has a request of it
  };

  static bool is_gpu(const SelectedPlatform& platform) { return platform.kind == PlatformKind::Cuda; }
  std::vector<ListedPlatform> list(NvidiaDriver nvidia, std::vector<protocol::Driver>& gpus);
  std::vector<ListedPlatform> list_gpus(std::vector<protocol::Driver>& gpus);
  ChildProcess start(PlatformKind kind, std::uint32_t platform, std::vector<std::uint32_t> devices = {});
  void start(Worker& worker);
  void describe(const std::vector<protocol::Driver>& gpus);
  void await_description(Worker& worker);
  void note_ready(Worker& worker, WorkerReady&& ready);
  bool take_request();
  void take_packet(std::uint32_t driver);
  void answer(Worker& worker);
  void withhold(Worker& worker, const std::string& reason);

  const ControlChannel& application_;
  std::unique_ptr<WorkerLines> lines_ = WorkerLines::start(LinesTo::Program);  // before the processes
  const FileRoots roots_;
  WorkerOptions options_;  // of all workers
  /// A worker of whichever GPU is wanted first, which loads the driver and lists the GPUs.
  std::optional<ChildProcess> spare_;
  std::vector<Worker> workers_;
  FileDesk desk_;
};

/// The devices of this host. Drivers load at the same time where each has a process.
/// @param gpus receives the descriptions of those that are used through CUDA
std::vector<ListedPlatform> PrivateWorkers::list(NvidiaDriver nvidia, std::vector<protocol::Driver>& gpus) {
  if (nvidia == NvidiaDriver::Cuda && may_have_gpus()) spare_.emplace(start(PlatformKind::Cuda, kAnyGpu));
  std::optional<ChildProcess> probe;
  const auto start_probe = [&] { probe.emplace(ChildProcess::start_probe(NvidiaDriver::OpenCl, "")); };
  if (!spare_ || may_have_other_drivers()) start_probe();
  std::vector<ListedPlatform> platforms;
  if (spare_) platforms = list_gpus(gpus);
  if (platforms.empty() && !probe) start_probe();
  if (!probe) return platforms;
  const bool through_cuda = !platforms.empty();
  for (ListedPlatform& other : parse_platforms(receive_from(*probe, application_.fd())))
    if (!through_cuda || other.vendor != kNvidiaName) platforms.push_back(std::move(other));
  return platforms;
}

std::vector<ListedPlatform> PrivateWorkers::list_gpus(std::vector<protocol::Driver>& gpus) {
  try {
    auto listed = parse_platforms(receive_from(*spare_, application_.fd()));
    for (std::size_t i = 0; i < listed.size(); ++i)
      gpus.push_back(parse_driver(receive_from(*spare_, application_.fd())));
    return listed;
  } catch (const std::exception& error) {
    spdlog::warn("the GPUs of this host cannot be used through CUDA: {}", error.what());
    gpus.clear();
    return {};
  }
}

ChildProcess PrivateWorkers::start(PlatformKind kind, std::uint32_t platform,
                                   std::vector<std::uint32_t> devices) {
  WorkerOptions options = options_;
  options.kind = kind;
  options.platform = platform;
  options.devices = std::move(devices);
  WorkerLines::Pipe pipe = WorkerLines::make_pipe();
  ChildProcess process = ChildProcess::start_worker(options, {}, pipe.to_write.get());
  lines_->add(std::move(pipe.to_read), process.pid());
  return process;
}

void PrivateWorkers::start(Worker& worker) {
  const SelectedPlatform& platform = worker.platform;
  worker.ready.reset();
  worker.opening = false;
  worker.starting = true;
  if (is_gpu(platform) && spare_ && !spare_->ended()) {
    spare_->control().send(Notice{.kind = Notice::Kind::Serve, .text = "", .devices = {platform.index}});
    worker.process = std::exchange(spare_, std::nullopt);
  } else {
    worker.process = start(platform.kind, platform.index, platform.devices);
  }
}

void PrivateWorkers::describe(const std::vector<protocol::Driver>& gpus) {
  std::string reason = kNoDriver;
  std::vector<Worker> usable;
  for (Worker& worker : workers_) {
    try {
      const auto gpu = std::find_if(gpus.begin(), gpus.end(), [&](const protocol::Driver& each) {
        return is_gpu(worker.platform) && each.id == worker.platform.index;
      });
      if (gpu != gpus.end())
        worker.driver = *gpu;
      else
        await_description(worker);
      worker.driver.id = static_cast<std::uint32_t>(usable.size());
      if (worker.ready) worker.ready->driver = worker.driver.id;
      usable.push_back(std::move(worker));
    } catch (const std::exception& error) {
      reason = error.what();
      spdlog::warn("an OpenCL driver of this host cannot be used: {}", reason);
    }
  }
  workers_ = std::move(usable);
  if (workers_.empty()) throw std::runtime_error(reason);
}

/// Waits for what the worker says until it is ready.
void PrivateWorkers::await_description(Worker& worker) {
  if (!worker.process)
    throw std::runtime_error("GPU " + std::to_string(worker.platform.index) + " was not described");
  while (!worker.ready) {
    auto said = parse_worker(receive_from(*worker.process, application_.fd()));
    if (auto* ready = std::get_if<WorkerReady>(&said))
      note_ready(worker, std::move(*ready));
    else
      worker.driver.devices.push_back(std::move(std::get<protocol::DeviceDescription>(said)));
  }
}

void PrivateWorkers::note_ready(Worker& worker, WorkerReady&& ready) {
  worker.driver.name = std::move(ready.platform);
  worker.driver.vendor = std::move(ready.vendor);
  worker.ready = std::move(ready.address);
  worker.ready->driver = worker.driver.id;
  worker.starting = false;
}

/// Tells the application the address of a worker that is ready and wanted.
void PrivateWorkers::answer(Worker& worker) {
  if (!worker.wanted || !worker.ready) return;
  worker.wanted = false;
  // From now on the worker waits for the application, but not for long.
  worker.process->control().send(Notice{Notice::Kind::Taken, "the process that embeds this worker"});
  application_.send(WorkersStarted{{*std::exchange(worker.ready, std::nullopt)}});
}

void PrivateWorkers::withhold(Worker& worker, const std::string& reason) {
  worker.starting = false;
  worker.process.reset();
  worker.ready.reset();
  if (std::exchange(worker.wanted, false))
    application_.send(WorkersStarted{{}, {{worker.driver.id, reason}}});
}

bool PrivateWorkers::take_request() {
  const auto packet = application_.receive();
  if (!packet) return false;
  for (const std::uint32_t driver : parse_start_workers(*packet).drivers) {
    Worker& worker = workers_.at(driver);
    worker.wanted = true;
    try {
      // A worker whose address the application has had is of no use any more, or it would not ask.
      if (!worker.ready && !worker.starting) start(worker);
      answer(worker);
    } catch (const std::exception& error) {
      withhold(worker, error.what());
    }
  }
  return true;
}

void PrivateWorkers::take_packet(std::uint32_t driver) {
  Worker& worker = workers_[driver];
  try {
    const auto packet = worker.process->control().receive();
    if (!packet && !worker.starting) {
      // Its client, the application, notices by itself.
      worker.process.reset();
      worker.ready.reset();
      return;
    }
    if (worker.starting) {
      if (!packet)
        throw std::runtime_error("the OpenCL driver ended its process (" + worker.process->stop() + ")");
      auto said = parse_worker(*packet);
      if (auto* ready = std::get_if<WorkerReady>(&said)) note_ready(worker, std::move(*ready));
      answer(worker);
      return;
    }
    auto said = parse_from_session(*packet);
    auto* request = std::get_if<FileRequest>(&said);
    if (request == nullptr) return;
    // One at a time, as in Server: a kernel could ask for any number.
    if (std::exchange(worker.opening, true))
      throw std::runtime_error("it has asked for a file before it got the one before");
    desk_.open(driver, roots_, std::move(*request));
  } catch (const std::exception& error) {
    if (!worker.starting) spdlog::warn("a worker has failed: {}", error.what());
    withhold(worker, error.what());
  }
}

void PrivateWorkers::serve() {
  constexpr std::size_t kFirst = 2;
  for (;;) {
    std::vector<pollfd> items{{application_.fd(), POLLIN, 0}, {desk_.fd(), POLLIN, 0}};
    for (const Worker& worker : workers_)
      items.push_back({worker.process ? worker.process->control().fd() : -1, POLLIN, 0});
    if (::poll(items.data(), items.size(), -1) < 0) {
      if (errno == EINTR) continue;
      throw std::system_error(errno, std::generic_category(), "poll");
    }
    if (items[1].revents != 0)
      for (const FileDesk::Answer& answer : desk_.done()) {
        Worker& worker = workers_[answer.number];
        if (std::exchange(worker.opening, false) && worker.process) answer.send(worker.process->control());
      }
    for (std::uint32_t driver = 0; driver < workers_.size(); ++driver)
      if (items[kFirst + driver].revents != 0) take_packet(driver);
    // Last, because it may replace workers whose descriptors were looked at.
    if (items[0].revents != 0 && !take_request()) return;
  }
}

}  // namespace

int run_embedded(const ControlChannel& control) {
  init_log("embedded", {});
  // Signals that a terminal sends to the application's process group are not for this process.
  ::setpgid(0, 0);
  std::optional<PrivateWorkers> workers;
  try {
    workers.emplace(control);
  } catch (const std::exception& error) {
    control.send(std::string(error.what()));
    return EXIT_FAILURE;
  }
  workers->offer();
  workers->serve();
  return EXIT_SUCCESS;
}

}  // namespace clique::daemon
