// `clique doctor-probe`: the part of `clique doctor` that uses OpenCL, in a process of its own, so that a
// driver that crashes or hangs is a finding. It writes a line of JSON for each step and finding.
#include <CL/cl.h>
#include <dlfcn.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <stdexcept>
#include <thread>

#include "cli/common/commands.hpp"
#include "cli/common/opencl_loader.hpp"
#include "cli/common/vendors.hpp"
#include "cli/doctor/doctor.hpp"
#include "icd/common/settings.hpp"
#include "protocol/printable.hpp"

namespace clique::cli {

namespace {

using doctor::SteadyClock;
using doctor::Verdict;
using nlohmann::json;
using protocol::printable;

/// In bytes. The smallest one takes less than a second over the slowest links.
constexpr std::size_t kSmallestTransfer = 4U << 10U;
constexpr std::size_t kLargestTransfer = 64U << 20U;
constexpr std::size_t kGrowth = 16;
constexpr std::size_t kItems = 1024;
constexpr cl_uint kFactor = 2654435761U;
constexpr const char* kSource =
    "kernel void examine(global uint* out) { out[get_global_id(0)] = (uint)get_global_id(0) * 2654435761u; }";

/// Writes lines to what was standard output. Any thread.
class ProbeOutput {
 public:
  ProbeOutput() : fd_(::dup(STDOUT_FILENO)) {
    // What drivers print must not get between the lines.
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  void write(const json& line) {
    const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
    const std::lock_guard lock(mutex_);
    // If nobody reads it, there is nothing to do about it.
    static_cast<void>(!::write(fd_, text.data(), text.size()));
  }
  void find(Verdict verdict, const std::string& subject, const std::string& text,
            const std::string& remedy = {}) {
    write({{"verdict", static_cast<int>(verdict)}, {"subject", subject}, {"text", text}, {"remedy", remedy}});
  }

 private:
  const int fd_;
  std::mutex mutex_;
};

ProbeOutput& probe_output() {
  static auto* const output = new ProbeOutput;
  return *output;
}

/// A step that may crash or hang, while it lasts.
class ProbeStep {
 public:
  explicit ProbeStep(std::string text) : text_(std::move(text)) { probe_output().write({{"begin", text_}}); }
  ~ProbeStep() { probe_output().write({{"end", text_}}); }
  ProbeStep(const ProbeStep&) = delete;
  ProbeStep& operator=(const ProbeStep&) = delete;

 private:
  const std::string text_;
};

struct ProbedDevice {
  cl_device_id id = nullptr;
  std::string label;  ///< for messages
  std::string node;
  bool first = false;  ///< of its node
};

void load_drivers() {
  for (const Vendor& vendor : registered_vendors().drivers) {
    if (vendor.library.empty()) continue;
    const std::string name = printable(vendor.library);
    const ProbeStep step("loading " + name);
    if (::dlopen(vendor.library.c_str(), RTLD_LAZY | RTLD_LOCAL) != nullptr) {
      probe_output().find(Verdict::Good, "driver", name + " can be loaded");
      continue;
    }
    const char* const why = ::dlerror();
    probe_output().find(
        Verdict::Bad, "driver", printable(why != nullptr ? why : name + " cannot be loaded"),
        "install it again, or remove " +
            printable(vendor.file.empty() ? "it from OCL_ICD_FILENAMES" : vendor.file.string()));
  }
}

/// The platforms called Clique.
std::vector<cl_platform_id> clique_platforms(const OpenClFunctions& cl) {
  const ProbeStep step("listing the platforms");
  std::vector<cl_platform_id> platforms = platforms_of_clique(cl);
  if (platforms.empty()) {
    if (!icd::is_off())
      probe_output().find(Verdict::Bad, "platform", "OpenCL's loader does not offer the platform Clique",
                          "see the checks of the OpenCL drivers above");
    return platforms;
  }
  const std::string version = queried_text([&](std::size_t size, void* value, std::size_t* size_ret) {
    return cl.clGetPlatformInfo(platforms[0], CL_PLATFORM_VERSION, size, value, size_ret);
  });
  const std::string release = version.substr(version.rfind(' ') + 1);
  if (release == CLIQUE_VERSION)
    probe_output().find(Verdict::Good, "platform",
                        "libclique is of release " CLIQUE_VERSION ", as this program");
  else
    probe_output().find(Verdict::Bad, "platform",
                        "libclique is of release " + printable(release) + ", this program of " CLIQUE_VERSION,
                        "install the same release of both");
  if (platforms.size() > 1)
    probe_output().find(Verdict::Bad, "platform",
                        "it is there " + std::to_string(platforms.size()) + " times",
                        "remove the surplus .icd files");
  return platforms;
}

std::vector<ProbedDevice> probed_devices(const OpenClFunctions& cl, cl_platform_id platform) {
  const ProbeStep step("listing the devices");
  std::set<std::string> nodes;
  std::vector<ProbedDevice> devices;
  for (const cl_device_id id : devices_of(cl, platform)) {
    ProbedDevice device;
    device.id = id;
    device.node = node_in(device_text(cl, id, CL_DRIVER_VERSION));
    device.label = "device " + std::to_string(devices.size()) + " (" +
                   printable(device_text(cl, id, CL_DEVICE_NAME)) + " of node " + printable(device.node) +
                   ")";
    device.first = nodes.insert(device.node).second;
    devices.push_back(std::move(device));
  }
  if (devices.empty())
    probe_output().find(Verdict::Bad, "devices", "there are none",
                        "the other findings say why; on this host, an OpenCL driver such as PoCL is needed");
  return devices;
}

void run_kernel(const OpenClFunctions& cl, const OpenedDevice& opened, cl_device_id device) {
  const cl_kernel kernel = build_kernel(cl, opened, device, kSource, "examine");
  const cl_mem buffer = new_buffer(cl, opened.context, kItems * sizeof(cl_uint));
  expect_success(cl.clSetKernelArg(kernel, 0, sizeof buffer, static_cast<const void*>(&buffer)),
                 "clSetKernelArg");
  expect_success(
      cl.clEnqueueNDRangeKernel(opened.queue, kernel, 1, nullptr, &kItems, nullptr, 0, nullptr, nullptr),
      "clEnqueueNDRangeKernel");
  std::vector<cl_uint> result(kItems);
  expect_success(cl.clEnqueueReadBuffer(opened.queue, buffer, CL_TRUE, 0, kItems * sizeof(cl_uint),
                                        result.data(), 0, nullptr, nullptr),
                 "clEnqueueReadBuffer");
  for (std::size_t i = 0; i < kItems; ++i)
    if (result[i] != static_cast<cl_uint>(i) * kFactor)
      throw std::runtime_error("the kernel has computed " + std::to_string(result[i]) + " for item " +
                               std::to_string(i) + " instead of " +
                               std::to_string(static_cast<cl_uint>(i) * kFactor));
}

/// Calls a function. @returns how many seconds it has taken
template <typename F>
double seconds_of(F&& function) {
  const auto begin = SteadyClock::now();
  function();
  return std::max(std::chrono::duration<double>(SteadyClock::now() - begin).count(), 1e-9);
}

/// What is sent to all devices.
struct SentData {
  // Nothing on the way can compress random numbers.
  SentData() : numbers(kLargestTransfer / sizeof(std::uint64_t)) {
    std::generate(numbers.begin(), numbers.end(), std::mt19937_64());
    std::vector<std::uint64_t> copy(numbers.size(), 1);
    copy_speed = static_cast<double>(kLargestTransfer) /
                 seconds_of([&] { std::copy(numbers.begin(), numbers.end(), copy.begin()); });
  }
  std::vector<std::uint64_t> numbers;
  double copy_speed = 0;  ///< how fast this host copies them, in bytes per second
};

/// Sends this many bytes to the device and back. @returns the seconds that each way has taken
std::pair<double, double> send_and_fetch(const OpenClFunctions& cl, const OpenedDevice& opened, cl_mem buffer,
                                         const std::vector<std::uint64_t>& sent, std::size_t size) {
  std::vector<std::uint64_t> received(size / sizeof(std::uint64_t));
  std::pair<double, double> seconds;
  seconds.first = seconds_of([&] {
    expect_success(
        cl.clEnqueueWriteBuffer(opened.queue, buffer, CL_TRUE, 0, size, sent.data(), 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
    // A write may return before the device has the data.
    expect_success(cl.clFinish(opened.queue), "clFinish");
  });
  seconds.second = seconds_of([&] {
    expect_success(
        cl.clEnqueueReadBuffer(opened.queue, buffer, CL_TRUE, 0, size, received.data(), 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
  });
  if (!std::equal(received.begin(), received.end(), sent.begin()))
    throw std::runtime_error("the data that came back differ from those that were sent");
  return seconds;
}

/// Sends more and more data, as far as that takes a second and ends by the deadline, and reports each time
/// how fast they travel.
void transfer(const OpenClFunctions& cl, const OpenedDevice& opened, const ProbedDevice& device,
              SteadyClock::time_point deadline) {
  static const SentData data;
  const cl_mem buffer = new_buffer(cl, opened.context, kLargestTransfer);
  double left = std::min(1.0, std::chrono::duration<double>(deadline - SteadyClock::now()).count());
  std::size_t size = kSmallestTransfer;
  for (;;) {
    const auto [there, back] = send_and_fetch(cl, opened, buffer, data.numbers, size);
    const auto bytes = static_cast<double>(size);
    probe_output().write({{"node", device.node},
                          {"bytes", size},
                          {"write", bytes / there},
                          {"read", bytes / back},
                          {"copy", data.copy_speed}});
    left -= there + back;
    // A small transfer is mostly latency, so a larger one takes less than in proportion.
    std::size_t next = std::min(size * kGrowth, kLargestTransfer);
    while (next > size && (there + back) * static_cast<double>(next) / bytes > left) next /= 2;
    if (next <= size) return;
    size = next;
  }
}

/// Reports that a check of a device has failed.
void report_failure(const ProbedDevice& device, const char* what, const std::exception& error) {
  probe_output().find(Verdict::Bad, device.label, std::string(what) + ": " + printable(error.what()),
                      "the log of cliqued on that node may say why");
}

void examine_device(const OpenClFunctions& cl, const ProbedDevice& device, SteadyClock::time_point deadline) {
  const char* what = "session";
  try {
    OpenedDevice opened;
    {
      const ProbeStep step("opening a session for " + device.label);
      opened = open_device(cl, device.id);
    }
    std::jthread transferring;
    // The compilation of the kernel may take long.
    if (device.first)
      transferring = std::jthread([&] {
        try {
          const ProbeStep step("transferring data to " + device.label);
          transfer(cl, {opened.context, new_queue(cl, opened.context, device.id)}, device, deadline);
        } catch (const std::exception& error) {
          report_failure(device, "transfer", error);
        }
      });
    what = "kernel";
    const ProbeStep step("running a kernel on " + device.label);
    run_kernel(cl, opened, device.id);
    probe_output().find(Verdict::Good, device.label, "it has run a kernel, with the right result");
  } catch (const std::exception& error) {
    report_failure(device, what, error);
  }
}

void probe_all(SteadyClock::time_point deadline) {
  void* library = nullptr;
  {
    const ProbeStep step(std::string("loading ") + kOpenClLoader);
    library = ::dlopen(kOpenClLoader, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) {
    const char* const why = ::dlerror();
    probe_output().find(Verdict::Bad, "OpenCL loader",
                        printable(why != nullptr ? why : "it cannot be loaded"),
                        "install one, for instance the package ocl-icd-libopencl1");
    return;
  }
  const OpenClFunctions cl(library);
  Dl_info info{};
  ::dladdr(reinterpret_cast<const void*>(cl.clGetPlatformIDs), &info);
  probe_output().find(Verdict::Good, "OpenCL loader",
                      printable(info.dli_fname != nullptr ? info.dli_fname : kOpenClLoader));
  load_drivers();
  const auto platforms = clique_platforms(cl);
  if (platforms.empty()) return;
  const auto devices = probed_devices(cl, platforms[0]);
  std::vector<std::jthread> threads;
  threads.reserve(devices.size());
  for (const ProbedDevice& device : devices)
    threads.emplace_back([&, deadline] { examine_device(cl, device, deadline); });
}

}  // namespace

void add_doctor_probe(CLI::App& app, Action& chosen) {
  // In no group, so that the help does not list it.
  CLI::App* const command = app.add_subcommand("doctor-probe", "For 'clique doctor'")->group("");
  auto milliseconds = std::make_shared<int>(0);
  command->add_option("--milliseconds", *milliseconds, "How long this may take")->required();
  command->callback([=, &chosen] {
    chosen = [=] {
      probe_output();
      try {
        probe_all(SteadyClock::now() + std::chrono::milliseconds(*milliseconds));
      } catch (const std::exception& error) {
        probe_output().find(Verdict::Bad, "OpenCL", printable(error.what()));
      }
      probe_output().write({{"done", true}});
    };
  });
}

}  // namespace clique::cli
