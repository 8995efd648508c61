#include "icd/remote/nodes/embedded.hpp"

#include <dlfcn.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include "icd/common/executable.hpp"
#include "icd/common/settings.hpp"
#include "icd/remote/nodes/detached_process.hpp"
#include "icd/remote/process.hpp"
#include "protocol/codec.hpp"
#include "protocol/messages/session.hpp"

namespace clique::icd {

namespace {

namespace fs = std::filesystem;

/// Larger than any packet: the description of a driver.
constexpr std::size_t kMaxPacket = 128U << 10U;

/// The folder of this library, or of the program that it is linked into.
fs::path own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&find_daemon), &info) == 0 || !info.dli_fname) return {};
  std::error_code error;
  return fs::canonical(info.dli_fname, error).parent_path();
}

std::vector<char> receive_packet(int fd, std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd ready{fd, POLLIN, 0};
    const int news = ::poll(&ready, 1, static_cast<int>(std::max<long long>(left.count(), 0)));
    if (news < 0 && errno == EINTR) continue;
    if (news == 0) throw std::runtime_error("cliqued did not start its workers in time");
    std::vector<char> packet(kMaxPacket);
    const ssize_t size = ::recv(fd, packet.data(), packet.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0)
      throw std::runtime_error(
          "cliqued ended before its workers were ready. Install the same release of cliqued and "
          "libclique.so");
    packet.resize(static_cast<std::size_t>(size));
    return packet;
  }
}

/// Throws DecodeError, and std::runtime_error with the reason that `cliqued embedded` wrote instead.
msgpack::object_handle unpack(const std::vector<char>& packet) {
  msgpack::object_handle handle = protocol::parse(
      std::as_bytes(std::span(packet)), msgpack::unpack_limit(1024, 0, kMaxPacket, kMaxPacket, 0, 8));
  const auto elements = protocol::detail::Decoder::array(handle.get());
  if (elements.size() == 1 && elements[0].type == msgpack::type::STR)
    throw std::runtime_error(elements[0].as<std::string>());
  return handle;
}

/// Whether a packet is a driver. The others begin with a list.
bool is_driver(const msgpack::object& packet) {
  const auto elements = protocol::detail::Decoder::array(packet);
  return !elements.empty() && elements[0].type == msgpack::type::POSITIVE_INTEGER;
}

[[noreturn]] void fail_to_understand(const std::string& daemon, const std::string& why) {
  throw std::runtime_error(daemon + " sent a message that cannot be understood (" + why +
                           "). Install the same release of cliqued and libclique.so");
}

}  // namespace

/// This process's end of the socketpair. The workers exit when it closes.
class PrivateWorkers::Lifeline {
 public:
  explicit Lifeline(int fd) : fd_(fd) { close_in_children(fd_); }
  ~Lifeline() {
    if (birthplace_.foreign()) return;  // closed when this process was forked
    forget_in_children(fd_);
    ::close(fd_);
  }
  Lifeline(const Lifeline&) = delete;
  Lifeline& operator=(const Lifeline&) = delete;
  int fd() const { return fd_; }

 private:
  Birthplace birthplace_;
  int fd_;
};

std::string find_daemon() {
  if (const auto named = daemon_path()) return *named;
  if (const fs::path folder = own_folder(); !folder.empty()) {
    // The build folder; one folder for both; PREFIX/lib; PREFIX/lib/ARCHITECTURE.
    for (const char* relative : {"../daemon/cliqued", "cliqued", "../bin/cliqued", "../../bin/cliqued"})
      if (const fs::path path = folder / relative; is_executable(path)) return path.lexically_normal();
  }
  std::istringstream folders(environment("PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path path = fs::path(folder) / "cliqued"; !folder.empty() && is_executable(path))
      return path;
  throw std::runtime_error(
      "cliqued is neither beside libclique.so nor in PATH. Install it, set CLIQUE_DAEMON to its path, or set "
      "CLIQUE_NODES to the nodes to use");
}

PrivateWorkers::PrivateWorkers(Time deadline) : daemon_(find_daemon()) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  lifeline_ = std::make_shared<Lifeline>(ends[0]);
  try {
    start_detached(daemon_, {"cliqued", "embedded", "--control-fd", std::to_string(kInheritedFd)}, ends[1]);
  } catch (...) {
    ::close(ends[1]);
    throw;
  }
  ::close(ends[1]);

  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  host_ = host;
  try {
    for (;;) {
      const msgpack::object_handle packet = unpack(receive_packet(lifeline_->fd(), deadline));
      if (!is_driver(packet.get())) return;
      drivers_.push_back(protocol::decode<protocol::Driver>(packet.get()));
    }
  } catch (const protocol::DecodeError& error) {
    fail_to_understand(daemon_, error.what());
  }
}

PrivateWorkers::Started PrivateWorkers::start(std::span<const std::uint32_t> drivers, Time deadline) {
  protocol::StartWorkers request;
  for (const std::uint32_t driver : drivers)
    if (!ready_.contains(driver) && asked_.insert(driver).second) request.drivers.push_back(driver);
  if (!request.drivers.empty()) {
    const protocol::Buffer packet = protocol::encode(request);
    // If cliqued has ended, its answer tells it.
    static_cast<void>(::send(lifeline_->fd(), packet.data(), packet.size(), MSG_NOSIGNAL));
  }
  Started started;
  for (const std::uint32_t driver : drivers) {
    while (!ready_.contains(driver) && !refused_.contains(driver))
      take(receive_packet(lifeline_->fd(), deadline));
    if (const auto worker = ready_.extract(driver)) started.workers.push_back(endpoint_of(worker.mapped()));
    if (auto refused = refused_.extract(driver))
      started.withheld.push_back({driver, std::move(refused.mapped())});
  }
  return started;
}

void PrivateWorkers::take(const std::vector<char>& packet) {
  try {
    const msgpack::object_handle handle = unpack(packet);
    auto started = protocol::decode<protocol::WorkersStarted>(handle.get());
    for (protocol::WorkerAddress& worker : started.workers) {
      asked_.erase(worker.driver);
      ready_[worker.driver] = std::move(worker);
    }
    for (protocol::Withheld& withheld : started.withheld) {
      asked_.erase(withheld.driver);
      refused_[withheld.driver] = std::move(withheld.reason);
    }
  } catch (const protocol::DecodeError& error) {
    fail_to_understand(daemon_, error.what());
  }
}

WorkerEndpoint PrivateWorkers::endpoint_of(const protocol::WorkerAddress& worker) const {
  const auto local = [](std::uint16_t port) { return "tcp://127.0.0.1:" + std::to_string(port); };
  return {host_,
          local(worker.commands),
          local(worker.reports),
          local(worker.peers),
          worker.client,
          worker.peer,
          worker.shared,
          lifeline_,
          worker.driver};
}

}  // namespace clique::icd
