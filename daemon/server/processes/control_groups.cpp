#include "daemon/server/processes/control_groups.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "daemon/common/log.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWorkerGroup = "worker-";
constexpr const char* kDaemonGroup = "daemon";
/// Processors are shared equally by default, so enabling this controller is enough.
constexpr const char* kProcessors = "cpu";
constexpr const char* kMemory = "memory";
constexpr const char* kTasks = "pids";

/// How long killed processes may take to leave their groups when the daemon ends.
constexpr std::chrono::milliseconds kLeaveTime{500};

/// Writes a value into a file of a group. Throws std::system_error.
void set(const fs::path& file, const std::string& value) {
  const Fd descriptor(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!descriptor ||
      ::write(descriptor.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size()))
    throw std::system_error(errno, std::generic_category(), "writing " + value + " to " + file.string());
}

void make_folder(const fs::path& path) {
  if (::mkdir(path.c_str(), 0755) != 0)
    throw std::system_error(errno, std::generic_category(), "creating " + path.string());
}

std::vector<std::string> words_of(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// Where control groups of version 2 are mounted, and which group the mount shows as its root.
struct Mount {
  fs::path point;
  std::string root;
};

/// proc(5), /proc/pid/mountinfo: ID, parent, device, root, mount point, options, …, "-", type, ….
Mount find_mount() {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string skipped;
    Mount mount;
    fields >> skipped >> skipped >> skipped >> mount.root >> mount.point;
    const auto end = line.find(" - ");
    if (end != std::string::npos && line.compare(end + 3, 8, "cgroup2 ") == 0) return mount;
  }
  throw std::runtime_error("control groups of version 2 are not mounted");
}

/// The folder of the group that this process is in. Throws std::runtime_error if there is none.
fs::path own_group() {
  const Mount mount = find_mount();
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    std::string path = line.substr(3);
    if (mount.root != "/") {
      if (!path.starts_with(mount.root)) break;
      path.erase(0, mount.root.size());
    }
    return mount.point / fs::path(path).relative_path();
  }
  throw std::runtime_error("the control group of this process is not visible at " + mount.point.string());
}

/// Throws std::runtime_error if the group is not this daemon's to change.
void check_delegated(const fs::path& group) {
  // A service manager that delegates a group starts only the daemon in it.
  if (words_of(group / "cgroup.procs") != std::vector{std::to_string(::getpid())})
    throw std::runtime_error("the daemon shares the control group " + group.string() +
                             " with other processes; a service needs Delegate=yes");
  if (::access((group / "cgroup.procs").c_str(), W_OK) != 0 || ::access(group.c_str(), W_OK) != 0)
    throw std::runtime_error("the control group " + group.string() +
                             " is not delegated to the daemon; a service needs Delegate=yes");
}

}  // namespace

ControlGroups::ControlGroups() {
  try {
    const fs::path group = own_group();
    check_delegated(group);
    if (!fs::exists(group / kDaemonGroup)) make_folder(group / kDaemonGroup);
    // A group that has groups with controllers below it can have no processes of its own.
    set(group / kDaemonGroup / "cgroup.procs", std::to_string(::getpid()));
    const auto available = words_of(group / "cgroup.controllers");
    for (const char* const controller : {kProcessors, kMemory, kTasks}) {
      if (std::find(available.begin(), available.end(), controller) == available.end()) continue;
      set(group / "cgroup.subtree_control", std::string("+") + controller);
      controllers_.emplace_back(controller);
    }
    path_ = group;
    for (const auto& entry : fs::directory_iterator(group))
      if (entry.path().filename().string().starts_with(kWorkerGroup)) remove(entry.path());
  } catch (const std::exception& error) {
    missing_ = error.what();
  }
}

ControlGroups::~ControlGroups() {
  const auto deadline = std::chrono::steady_clock::now() + kLeaveTime;
  while (!removing_.empty() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    remove_emptied();
  }
}

std::string ControlGroups::description() const {
  if (controllers_.empty()) return path_.string() + ", without controllers";
  return fmt::format("{}, with the controllers {}", path_.string(), fmt::join(controllers_, ", "));
}

ControlGroup ControlGroups::create(std::uint64_t memory) {
  if (path_.empty()) return {};
  remove_emptied();
  const fs::path group = path_ / (std::string(kWorkerGroup) + std::to_string(++last_));
  make_folder(group);
  ControlGroup made(this, group);
  const auto controls = [this](const char* controller) {
    return std::find(controllers_.begin(), controllers_.end(), controller) != controllers_.end();
  };
  if (controls(kTasks)) set(group / "pids.max", std::to_string(kProcesses));
  if (controls(kMemory)) {
    // A session without one of its processes is worth nothing.
    set(group / "memory.oom.group", "1");
    if (memory > 0) set(group / "memory.max", std::to_string(memory));
  }
  return made;
}

void ControlGroups::remove(fs::path path) {
  try {
    set(path / "cgroup.kill", "1");
  } catch (const std::system_error& error) {
    // Linux before 5.14 has no such file; the processes of sessions end with their worker there.
    if (error.code() != std::errc::no_such_file_or_directory) spdlog::warn("{}", error.what());
  }
  removing_.push_back(std::move(path));
  remove_emptied();
}

void ControlGroups::remove_emptied() {
  std::erase_if(removing_, [](const fs::path& path) { return ::rmdir(path.c_str()) == 0 || errno != EBUSY; });
}

ControlGroup::ControlGroup(ControlGroup&& other) noexcept
    : all_(std::exchange(other.all_, nullptr)), path_(std::move(other.path_)) {}

ControlGroup& ControlGroup::operator=(ControlGroup&& other) noexcept {
  std::swap(all_, other.all_);
  std::swap(path_, other.path_);
  return *this;
}

ControlGroup::~ControlGroup() {
  if (all_) all_->remove(std::move(path_));
}

void ControlGroup::add(pid_t process) const {
  if (all_) set(path_ / "cgroup.procs", std::to_string(process));
}

}  // namespace clique::daemon
