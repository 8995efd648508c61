#include "icd/core/objects/platform.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <string>

#include "icd/common/say.hpp"
#include "icd/common/settings.hpp"
#include "icd/core/objects/combined_devices.hpp"
#include "icd/core/objects/extensions.hpp"
#include "icd/core/workers/worker.hpp"
#include "icd/remote/link/link.hpp"
#include "icd/remote/nodes/nodes.hpp"
#include "icd/remote/nodes/selection.hpp"
#include "icd/trace/trace.hpp"
#include "protocol/transport/zmq.hpp"
#include "protocol/transport/zmq_context.hpp"

namespace clique::icd {

namespace {

/// Holds the platform. Never destroyed, like the platform itself.
struct Slot {
  std::mutex mutex;
  Platform* platform = nullptr;
};

// A forked child replaces it instead of emptying it: the platform in it is the parent's, and another thread
// of the parent may have held the lock at the time of the fork.
std::atomic<Slot*> slot{nullptr};

Slot& current_slot() {
  static const bool once = [] {
    slot = new Slot;
    pthread_atfork(nullptr, nullptr, [] { slot = new Slot; });
    return true;
  }();
  static_cast<void>(once);
  return *slot.load(std::memory_order_acquire);
}

/// Runs at the end of the process, after the application's own exit handlers: workers need not wait for this
/// client to come back. Before that, nothing may be closed, since the application's destructors still use
/// OpenCL.
[[gnu::destructor]] void say_goodbye() {
  const Slot* here = slot.load(std::memory_order_acquire);
  if (here == nullptr || here->platform == nullptr) return;
  here->platform->say_goodbye();
}

/// The devices that the program is offered.
std::vector<Ref<Device>> offered_of(const std::vector<Ref<Device>>& all,
                                    const std::vector<std::unique_ptr<Node>>& nodes) {
  const Selection selection = select_devices(nodes, device_choice(), true);
  for (const std::string& problem : selection.problems) say(problem);
  std::vector<Ref<Device>> result;
  result.reserve(selection.positions.size());
  for (const std::size_t position : selection.positions) result.push_back(all[position]);
  return result;
}

}  // namespace

cl_platform_id Platform::handle() {
  static _cl_platform_id handle;
  return &handle;
}

bool Platform::offered() {
  static const bool result = !is_worker() && !is_off();
  return result;
}

Platform::Label Platform::label() {
  Label own{"Clique", "Clique"};
  static const bool native = [] {
    try {
      return native_vendor();
    } catch (const SettingError&) {
      return false;  // find_nodes() says it
    }
  }();
  if (!native || instance().devices().empty()) return own;
  const Device* device = instance().devices().front().get();
  if (device->is_combined()) device = device->members().front().get();
  const protocol::Driver& driver = device->worker().driver();
  if (driver.name.empty() || driver.vendor.empty()) return own;
  // NVIDIA's own platform for the GPUs that nodes use through CUDA.
  return {driver.name == "CUDA" ? "NVIDIA CUDA" : driver.name, driver.vendor};
}

Platform& Platform::instance() {
  Slot& slot = current_slot();
  const std::lock_guard lock(slot.mutex);
  if (slot.platform == nullptr) slot.platform = new Platform;
  return *slot.platform;
}

Platform& Platform::get(cl_platform_id handle) {
  require(handle == Platform::handle(), CL_INVALID_PLATFORM, "the handle is not that of the platform Clique");
  return instance();
}

Platform::Platform() : zmq_(std::make_unique<protocol::ZmqContext>(protocol::io_threads())) {
  {
    const trace::Wait waiting([] { return std::string("the nodes' lists of devices"); });
    nodes_ = find_nodes(*zmq_);
  }
  for (const std::unique_ptr<Node>& node : nodes_) {
    for (std::size_t driver = 0; driver < node->drivers().size(); ++driver) {
      const auto index = static_cast<unsigned>(workers_.size());
      Worker& worker = *workers_.emplace_back(std::make_unique<Worker>(*node, driver, index));
      protocol::DeviceId id = 0;
      for (const protocol::DeviceDescription& description : node->drivers()[driver].devices)
        devices_.emplace_back(new Device(worker, id++, description, {}, {}));
    }
  }
  devices_ = offered_of(devices_, nodes_);
  combine();
  for (const Ref<Device>& device : devices_) device->give_out();
}

void Platform::combine() {
  try {
    const std::string choice = combine_choice();
    if (choice.empty()) return;
    const CombineSettings settings = combine_settings();
    std::vector<Ref<Device>> combined = combined_devices(devices_, choice);
    const auto is_member = [&](const Ref<Device>& device) {
      return std::any_of(combined.begin(), combined.end(), [&](const Ref<Device>& one) {
        return std::find(one->members().begin(), one->members().end(), device) != one->members().end();
      });
    };
    if (settings.only) std::erase_if(devices_, is_member);
    devices_.insert(devices_.begin(), std::make_move_iterator(combined.begin()),
                    std::make_move_iterator(combined.end()));
  } catch (const SettingError& error) {
    // The search for nodes may have reported the same error.
    say_once(error.what());
  }
}

Platform::~Platform() = default;

void Platform::say_goodbye() const {
  for (const std::unique_ptr<Node>& node : nodes_) node->say_goodbye();
}

std::vector<cl_name_version> Platform::extensions() const {
  std::vector<cl_name_version> common = own_extensions();
  if (devices_.empty()) return common;
  for (const cl_name_version& extension :
       devices_.front()->list<cl_name_version>(CL_DEVICE_EXTENSIONS_WITH_VERSION)) {
    cl_name_version shared = extension;
    const bool everywhere = std::all_of(devices_.begin(), devices_.end(), [&](const Ref<Device>& device) {
      const std::vector<cl_name_version> has =
          device->list<cl_name_version>(CL_DEVICE_EXTENSIONS_WITH_VERSION);
      const auto found = std::find_if(has.begin(), has.end(), [&](const cl_name_version& other) {
        return name_of(other) == name_of(extension);
      });
      if (found == has.end()) return false;
      shared.version = std::min(shared.version, found->version);
      return true;
    });
    if (everywhere) common.push_back(shared);
  }
  return sorted_by_name(std::move(common));
}

bool Platform::carries_extension(std::string_view name) {
  return icd::carries_extension(name);
}

}  // namespace clique::icd
