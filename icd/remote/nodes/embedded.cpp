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

constexpr std::size_t kMaxPacket = 64U << 10U;

/// This process's end of the socketpair. The workers exit when it closes.
class Lifeline {
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

/// The folder of this library, or of the program that it is linked into.
fs::path own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&start_embedded), &info) == 0 || !info.dli_fname) return {};
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

/// Reads what `cliqued embedded` writes: its workers, or the reason why there are none, which this throws as
/// std::runtime_error. Also throws DecodeError.
std::vector<protocol::WorkerReady> parse(const std::vector<char>& packet) {
  using protocol::detail::Decoder;
  const msgpack::object_handle handle = protocol::parse(
      std::as_bytes(std::span(packet)), msgpack::unpack_limit(1024, 0, kMaxPacket, kMaxPacket, 0, 4));
  const auto elements = Decoder::array(handle.get());
  if (elements.size() == 1 && elements[0].type == msgpack::type::STR)
    throw std::runtime_error(elements[0].as<std::string>());
  return protocol::decode<std::vector<protocol::WorkerReady>>(handle.get());
}

[[noreturn]] void fail_to_understand(const std::string& daemon, const std::string& why) {
  throw std::runtime_error(daemon + " sent a message that cannot be understood (" + why +
                           "). Install the same release of cliqued and libclique.so");
}

}  // namespace

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

std::vector<WorkerEndpoint> start_embedded(std::chrono::steady_clock::time_point deadline) {
  const std::string daemon = find_daemon();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  const auto lifeline = std::make_shared<Lifeline>(ends[0]);
  try {
    start_detached(daemon, {"cliqued", "embedded", "--control-fd", std::to_string(kInheritedFd)}, ends[1]);
  } catch (...) {
    ::close(ends[1]);
    throw;
  }
  ::close(ends[1]);

  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  const auto local = [](std::uint16_t port) { return "tcp://127.0.0.1:" + std::to_string(port); };
  std::vector<WorkerEndpoint> endpoints;
  try {
    for (const auto& [platform, vendor, worker] : parse(receive_packet(lifeline->fd(), deadline)))
      endpoints.push_back({host, local(worker.commands), local(worker.reports), local(worker.peers),
                           worker.client, worker.peer, worker.shared, lifeline, worker.driver});
  } catch (const protocol::DecodeError& error) {
    fail_to_understand(daemon, error.what());
  }
  return endpoints;
}

}  // namespace clique::icd
