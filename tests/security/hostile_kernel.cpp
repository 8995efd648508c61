// Kernels that make system calls, on a driver that runs kernels as native code in the worker (PoCL). They
// must reach nothing but their own session.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <concepts>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <msgpack.hpp>
#include <sstream>
#include <type_traits>

#include "daemon/common/control.hpp"
#include "harness.hpp"
#include "ids.hpp"
#include "protocol/codec.hpp"
#include "protocol/streams/handshake.hpp"

namespace clique::test {
namespace {

namespace fs = std::filesystem;

/// Makes the system call `number`. Arguments whose bits are set in `pointers` are offsets into `memory`.
constexpr const char* kSource = R"(
kernel void attack(global long* memory, long number, long a, long b, long c, long d, long e, long f,
                   int pointers) {
  long base = (long)memory;
  long result;
  __asm__ volatile("movq %5, %%r10\n movq %6, %%r8\n movq %7, %%r9\n syscall" : "=a"(result)
      : "a"(number), "D"(a + (pointers & 1 ? base : 0)), "S"(b + (pointers & 2 ? base : 0)),
        "d"(c + (pointers & 4 ? base : 0)), "r"(d + (pointers & 8 ? base : 0)),
        "r"(e + (pointers & 16 ? base : 0)), "r"(f + (pointers & 32 ? base : 0))
      : "rcx", "r8", "r9", "r10", "r11", "memory");
  memory[0] = result;
})";

/// An argument of a system call.
struct Argument {
  template <typename T>
    requires std::integral<T> || std::is_enum_v<T>
  Argument(T number) : value(static_cast<long>(number)) {}
  Argument(const char* text) : Argument(std::string(text)) {}
  Argument(const fs::path& path) : Argument(path.string()) {}
  Argument(const std::string& text) : bytes(text.begin(), text.end()), pointer(true) { bytes.push_back(0); }
  /// Memory that the call may fill.
  static Argument memory(std::size_t size) {
    Argument argument(0);
    argument.bytes.resize(size);
    argument.pointer = true;
    return argument;
  }
  long value = 0;
  std::vector<char> bytes;
  bool pointer = false;
};

/// A session whose kernels make system calls.
class Attacker {
 public:
  explicit Attacker(const Node& node, const std::string& name) : client_(node, name) { set_up(); }
  explicit Attacker(const WorkerAddress& worker) : client_(worker) { set_up(); }

  void set_up() {
    const ProgramBuilt built = client_.set_up(kSource);
    if (built.status != 0) throw std::runtime_error(built.devices.at(0).log);
    client_.send(CreateBuffer{kBuffer, kContext, kReadWrite, kSize},
                 CreateKernel{kKernel, kProgram, "attack"});
  }

  /// What the system call returned: below 0, the negative error.
  long call(long number, const std::vector<Argument>& arguments = {}) {
    const CommandId read = post(number, arguments);
    if (client_.ended(read - 1).status != 0) throw std::runtime_error("the kernel did not run");
    const auto data = client_.data(read);
    answer_.assign(reinterpret_cast<const char*>(data.data()), data.size());
    long result = 0;
    std::memcpy(&result, data.data(), sizeof result);
    return result;
  }
  /// Makes a system call without waiting for what it returns. @returns the command that reads that; the one
  /// before runs the kernel
  CommandId post(long number, const std::vector<Argument>& arguments) {
    std::vector<char> memory(sizeof(long));
    std::array<long, 6> values{};
    int pointers = 0;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      values.at(i) = arguments[i].value;
      if (!arguments[i].pointer) continue;
      pointers |= 1 << i;
      values.at(i) = static_cast<long>(memory.size());
      memory.insert(memory.end(), arguments[i].bytes.begin(), arguments[i].bytes.end());
      memory.resize((memory.size() + 15) / 16 * 16);
    }
    const CommandId first = last_ + 1;
    last_ += 3;
    std::vector<KernelArg> given{object_arg(0, kBuffer), value_arg(1, number)};
    for (std::uint32_t i = 0; i < values.size(); ++i) given.push_back(value_arg(2 + i, values.at(i)));
    given.push_back(value_arg(8, pointers));
    client_.send(WriteBuffer{command(first), kBuffer, 0, payload(memory.data(), memory.size())},
                 RunKernel{command(first + 1), kKernel, given, {}, {1}, {1}},
                 ReadBuffer{command(first + 2), 0, kBuffer, 0, kSize});
    return first + 2;
  }
  long open(const std::string& path, int flags = O_RDONLY) {
    return call(SYS_openat, {AT_FDCWD, path, flags, 0600});
  }
  /// What the last call left in memory.
  const std::string& answer() const { return answer_; }
  Client& client() { return client_; }

 private:
  static constexpr std::size_t kSize = 4096;
  Client client_;
  CommandId last_ = 1000;
  std::string answer_;
};

/// The terminal of a program.
class Terminal {
 public:
  Terminal() {
    if (::grantpt(terminal_.get()) != 0 || ::unlockpt(terminal_.get()) != 0)
      throw std::runtime_error("no terminal");
    program_ = Fd(::open(::ptsname(terminal_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  }

  /// For the program's standard error.
  int descriptor() const { return program_.get(); }
  /// Waits until the terminal shows the text. @returns all that it shows
  std::string shown(const std::string& text) {
    for (pollfd ready{terminal_.get(), POLLIN, 0};
         shown_.find(text) == std::string::npos &&
         ::poll(&ready, 1, static_cast<int>(kPatience.count())) > 0;) {
      std::array<char, 1024> bytes{};
      const ssize_t size = ::read(terminal_.get(), bytes.data(), bytes.size());
      if (size <= 0) break;
      shown_.append(bytes.data(), static_cast<std::size_t>(size));
    }
    return shown_;
  }

 private:
  const Fd terminal_{::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)};
  Fd program_;
  std::string shown_;
};

int port_of(const std::string& endpoint) {
  return std::stoi(endpoint.substr(endpoint.rfind(':') + 1));
}

/// The descriptors of a process's sockets.
std::vector<int> sockets_of(pid_t process) {
  std::vector<int> sockets;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc/" + std::to_string(process) + "/fd"))
    if (fs::read_symlink(entry.path(), gone).string().starts_with("socket:"))
      sockets.push_back(std::stoi(entry.path().filename()));
  return sockets;
}

/// A service on this host that is none of Clique's.
class Service {
 public:
  Service() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket_.get(), SOMAXCONN) != 0)
      throw std::runtime_error("no port is free");
  }
  sockaddr_in address() const {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return address;
  }
  std::string endpoint() const { return "tcp://127.0.0.1:" + std::to_string(ntohs(address().sin_port)); }
  /// The next connection; none within the time.
  Fd next(std::chrono::milliseconds within = kPatience) const {
    pollfd ready{socket_.get(), POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(within.count())) <= 0) return {};
    return Fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

 private:
  const Fd socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

/// The line of `cliqued --check` about the wall if the host lacks it; empty otherwise.
std::string missing(const std::string& wall) {
  const std::string list = run_cliqued({"--check"}).first;
  std::istringstream lines(list);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(wall + " ") && line.find("MISSING") != std::string::npos) return line;
  return list.find(wall) == std::string::npos ? "cliqued --check says: " + list : "";
}

#define CLIQUE_NEEDS_WALL(wall) \
  if (const std::string reason = missing(wall); !reason.empty()) GTEST_SKIP() << reason

class HostileKernel : public testing::Test {
 protected:
  void SetUp() override {
#ifndef __x86_64__
    GTEST_SKIP() << "the kernel is written for x86-64";
#endif
    std::ofstream(secret_) << "secret";
  }
  void TearDown() override {
    ::unsetenv("POCL_CACHE_DIR");
    fs::remove_all(folder_);
  }
  /// Has nodes that start later keep what their sessions compile in `caches_`, and begin with nothing there.
  void look_at_caches() const { ::setenv("POCL_CACHE_DIR", caches_.c_str(), 1); }
  /// Expects a refusal and no other failure. Hidden files do not exist, and hidden process ids are unused.
  static void expect_refused(long result) {
    constexpr std::array kRefusals{EACCES, EPERM, ENOENT, ESRCH, EROFS};
    EXPECT_NE(std::find(kRefusals.begin(), kRefusals.end(), -result), kRefusals.end()) << result;
  }
  /// Connects two workers as a client does.
  static void connect(Client& from, const Node& node, const Client& to) {
    ConnectPeer message{kPeer, "", to.address.peer, ""};
    message.daemon = node.endpoint();
    message.streams = to.address.streams;
    from.send(message);
  }
  /// Sends data from one worker to the other, and expects that they arrive.
  /// @param id of the first of the commands
  static void push(Client& from, Client& to, CommandId id) {
    // Small and large parts take different connections.
    constexpr std::uint64_t kBytes = 4U << 20U;
    const ObjectId buffer = id;
    for (Client* client : {&from, &to}) client->send(CreateBuffer{buffer, kContext, kReadWrite, kBytes});
    const Bytes value{static_cast<std::uint8_t>(id)};
    from.send(FillBuffer{command(id), buffer, value, 0, kBytes});
    for (const std::uint64_t size : {std::uint64_t{64}, kBytes}) {
      ++id;
      to.send(Expect{command(id, Command::kReport, {}, kOutOfOrder), buffer, 0, size});
      from.send(Push{command(id, Command::kReport, {}, kInOrder), buffer, 0, size, kPeer, id});
      EXPECT_EQ(to.ended(id).status, 0);
    }
    to.send(ReadBuffer{command(++id), 0, buffer, kBytes - 4, 4});
    EXPECT_EQ(static_cast<std::uint8_t>(to.data(id).at(3)), value[0]);
  }
  /// Has a kernel take all connections of its worker to the other node, and use them for others.
  static void expect_only_peers(Attacker& attacker, pid_t worker, const Node& other) {
    const Service service;
    const int port = port_of(other.endpoint());
    unsigned connections = 0;
    for (const int fd : sockets_of(worker)) {
      sockaddr_in peer{};
      const std::string size("\x10\0\0\0", 4);
      if (attacker.call(SYS_getpeername, {fd, Argument::memory(sizeof peer), size}) != 0) continue;
      std::memcpy(&peer, attacker.answer().data() + sizeof(long), sizeof peer);
      if (peer.sin_family != AF_INET || ntohs(peer.sin_port) != port) continue;
      ++connections;
      const sockaddr none{};  // AF_UNSPEC
      attacker.call(SYS_connect, {fd, bytes_of(none), sizeof none});
      const sockaddr_in address = service.address();
      EXPECT_NE(attacker.call(SYS_connect, {fd, bytes_of(address), sizeof address}), 0);
      EXPECT_LT(attacker.call(SYS_sendto, {fd, "x", 1, MSG_FASTOPEN, bytes_of(address), sizeof address}), 0);
    }
    EXPECT_GE(connections, 1U);
    EXPECT_FALSE(service.next(std::chrono::milliseconds(300))) << "a kernel has connected";
  }
  template <typename T>
  static std::string bytes_of(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }
  /// A worker's request to its daemon.
  static std::string packet_of(const daemon::DialRequest& request) {
    const Buffer packet = encode(request);
    return {reinterpret_cast<const char*>(packet.data()), packet.size()};
  }
  static void ask(Attacker& attacker, const daemon::DialRequest& request) {
    const std::string bytes = packet_of(request);
    ASSERT_EQ(attacker.call(SYS_sendto, {kControlChannel, bytes, bytes.size(), 0, 0, 0}),
              static_cast<long>(bytes.size()));
  }
  /// Expects that the daemon still serves other sessions, old and new.
  static void expect_unharmed(const Node& node, Client& other) {
    EXPECT_TRUE(alive(node.pid()));
    EXPECT_EQ(other.finish().status, 0);
    Client later(node);
    later.set_up();
    EXPECT_EQ(later.finish().status, 0);
  }
  /// How many folders begin with this name.
  std::size_t folders(const std::string& name) const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(caches_))
      count += entry.path().filename().string().starts_with(name) ? 1 : 0;
    return count;
  }
  static std::string temporary() {
    std::string name = fs::temp_directory_path() / "clique-test-XXXXXX";
    return ::mkdtemp(name.data());
  }

  static constexpr PeerId kPeer = 1;
  static constexpr int kControlChannel = 3;
  const fs::path folder_ = temporary();
  const fs::path secret_ = folder_ / "secret";
  const fs::path caches_ = folder_ / "caches";
};

TEST_F(HostileKernel, GivenNoWallsThenItReadsFiles) {
  const Node node({"--confinement", "off"});
  Attacker attacker(node, "attacker");
  const long file = attacker.open(secret_);
  ASSERT_GE(file, 0);
  EXPECT_EQ(attacker.call(SYS_read, {file, Argument::memory(64), 64}), 6);
  EXPECT_NE(attacker.answer().find("secret"), std::string::npos);
}

TEST_F(HostileKernel, GivenWallsThenItReadsNoFilesOfOthers) {
  CLIQUE_NEEDS_WALL("file-rights");
  look_at_caches();
  const Node node;
  Client other(node, "other");
  other.set_up();
  Attacker attacker(node, "attacker");
  for (const fs::path& path :
       {secret_, fs::path("/etc/passwd"), fs::path("/etc/shadow"), fs::path("/proc/kcore"), caches_})
    expect_refused(attacker.open(path));
  // Another session's folder, which the daemon's user may read.
  unsigned others = 0;
  unsigned opened = 0;
  for (const auto& entry : fs::directory_iterator(caches_))
    if (entry.path().filename().string().starts_with("session-"))
      ++(attacker.open(entry.path(), O_RDONLY | O_DIRECTORY) >= 0 ? opened : others);
  EXPECT_EQ(opened, 1U);
  EXPECT_GE(others, 1U);
  // The files that it needs are still available.
  EXPECT_GE(attacker.open("/dev/null", O_RDWR), 0);
  EXPECT_GE(attacker.open("/proc/self/maps"), 0);
  expect_unharmed(node, other);
}

TEST_F(HostileKernel, GivenWallsThenItWritesNoFilesOfOthers) {
  CLIQUE_NEEDS_WALL("file-rights");
  const Node node;
  Attacker attacker(node, "attacker");
  const fs::path made = folder_ / "made";
  expect_refused(attacker.open(made, O_WRONLY | O_CREAT));
  expect_refused(attacker.open(secret_, O_WRONLY | O_TRUNC));
  expect_refused(attacker.call(SYS_unlink, {secret_}));
  expect_refused(attacker.call(SYS_rename, {secret_, made}));
  expect_refused(attacker.call(SYS_symlink, {"/etc/passwd", made}));
  EXPECT_FALSE(fs::exists(made));
  EXPECT_EQ(fs::file_size(secret_), 6U);
}

TEST_F(HostileKernel, GivenRequestsToTheDaemonThenItGetsNoOtherFiles) {
  const fs::path offered = folder_ / "offered";
  fs::create_directory(offered);
  const Node node({"--file-roots", "read:" + offered.string(), "--log-level", "debug"});
  Client other(node, "other");
  other.set_up();
  Attacker attacker(node, "attacker");
  // As a worker asks its daemon for a file: the path, for reading, not direct.
  unsigned asked = 0;
  for (const fs::path& path : {secret_, fs::path("/etc/shadow"), offered / "../secret"}) {
    const std::string name = path;
    const std::string request =
        "\x93\xd9" + std::string(1, static_cast<char>(name.size())) + name + "\x01\xc2";
    ASSERT_EQ(attacker.call(SYS_sendto, {kControlChannel, request, request.size(), MSG_DONTWAIT, 0, 0}),
              static_cast<long>(request.size()));
    ++asked;
    EXPECT_TRUE(eventually([&] {
      const std::string log = node.log();
      unsigned refused = 0;
      for (auto at = log.find("does not get the file"); at != std::string::npos;
           at = log.find("does not get the file", at + 1))
        ++refused;
      return refused == asked;
    })) << node.log();
  }
  expect_unharmed(node, other);
}

TEST_F(HostileKernel, GivenWallsThenItReachesNoOtherProcess) {
  CLIQUE_NEEDS_WALL("system-calls");
  CLIQUE_NEEDS_WALL("file-rights");
  const Node node;
  Client other(node, "other");
  other.set_up();
  const long daemon = node.pid();
  const long victim = node.worker_of("other");
  Attacker attacker(node, "attacker");
  for (const long pid : {daemon, victim, static_cast<long>(::getpid())}) {
    const std::string process = "/proc/" + std::to_string(pid);
    for (const char* file : {"/mem", "/environ", "/maps", "/cmdline", "/fd"})
      expect_refused(attacker.open(process + file));
    expect_refused(attacker.call(SYS_kill, {pid, SIGKILL}));
    expect_refused(attacker.call(SYS_tgkill, {pid, pid, SIGKILL}));
    expect_refused(attacker.call(SYS_ptrace, {PTRACE_ATTACH, pid, 0, 0}));
    expect_refused(
        attacker.call(SYS_process_vm_readv, {pid, Argument::memory(16), 1, Argument::memory(16), 1, 0}));
    expect_refused(attacker.call(SYS_pidfd_open, {pid, 0}));
  }
  expect_unharmed(node, other);
}

TEST_F(HostileKernel, GivenWallsThenItsSignalsToAllReachNoOthers) {
  CLIQUE_NEEDS_WALL("file-rights");
  const Node node;
  Client other(node, "other");
  other.set_up();
  Attacker attacker(node, "attacker");
  attacker.call(SYS_kill, {-1, SIGTERM});
  attacker.call(SYS_kill, {-1, SIGKILL});
  expect_unharmed(node, other);
}

TEST_F(HostileKernel, GivenWallsThenItStartsNoPrograms) {
  CLIQUE_NEEDS_WALL("file-rights");
  CLIQUE_NEEDS_WALL("system-calls");
  const Node node;
  Attacker attacker(node, "attacker");
  for (const char* program : {"/bin/sh", "/usr/bin/env", "/proc/self/exe", CLIQUED})
    expect_refused(attacker.call(SYS_execve, {program, 0, 0}));
  // The worker still runs, so execve() has not replaced it.
  EXPECT_GT(attacker.call(SYS_getpid), 0);
  expect_refused(attacker.call(SYS_execveat, {AT_FDCWD, "/bin/sh", 0, 0, 0}));
}

TEST_F(HostileKernel, GivenWallsThenItHasNoSystemCallsToSpare) {
  CLIQUE_NEEDS_WALL("system-calls");
  const Node node;
  Attacker attacker(node, "attacker");
  // Without the filter, the kernel would answer these calls with other errors.
  const std::vector<std::pair<long, std::vector<Argument>>> calls{
      {SYS_unshare, {CLONE_NEWUSER}},
      {SYS_clone, {CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0}},
      {SYS_setns, {-1, 0}},
      {SYS_mount, {"none", "/tmp", "tmpfs", 0, 0}},
      {SYS_pivot_root, {".", "."}},
      {SYS_chroot, {"/"}},
      {SYS_bpf, {0, 0, 0}},
      {SYS_perf_event_open, {0, 0, -1, -1, 0}},
      {SYS_userfaultfd, {0}},
      {SYS_keyctl, {0, 0, 0, 0, 0}},
      {SYS_io_uring_setup, {1, Argument::memory(256)}},
      {SYS_init_module, {0, 0, 0}},
      {SYS_kexec_load, {0, 0, 0, 0}},
      {SYS_open_by_handle_at, {-1, 0, 0}},
      {SYS_reboot, {0, 0, 0, 0}},
      {SYS_socket, {AF_PACKET, SOCK_RAW, 0}},
      {SYS_socket, {AF_VSOCK, SOCK_STREAM, 0}},
  };
  for (const auto& [number, arguments] : calls) EXPECT_EQ(attacker.call(number, arguments), -EPERM) << number;
  // These nodes have worker-ports, for which their workers make sockets.
  EXPECT_GE(attacker.call(SYS_socket, {AF_INET, SOCK_STREAM, 0}), 0);
}

TEST_F(HostileKernel, GivenWallsThenItMakesNoConnections) {
  CLIQUE_NEEDS_WALL("network");
  const Node node({"--worker-ports", "none", "--resume-timeout", "60"});
  const Node other({"--worker-ports", "none"});
  Attacker attacker(node, "attacker");
  const auto refused = [&](int family, int kind, int protocol = 0) {
    return attacker.call(SYS_socket, {family, kind, protocol}) == -EPERM;
  };
  for (const int family : {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK, AF_ALG})
    EXPECT_TRUE(refused(family, family == AF_INET ? SOCK_STREAM | SOCK_CLOEXEC : SOCK_DGRAM)) << family;
  EXPECT_TRUE(refused(AF_INET, SOCK_STREAM, IPPROTO_MPTCP));
  // The kernel looks at the lower half of the family only, and so must the filter.
  EXPECT_EQ(attacker.call(SYS_socket, {(1L << 32) | AF_INET, SOCK_STREAM, 0}), -EPERM);
  EXPECT_GE(attacker.call(SYS_socket, {AF_UNIX, SOCK_STREAM, 0}), 0);

  // The session's nodes are connected all the same.
  Client peer(other, "peer");
  peer.set_up();
  connect(attacker.client(), other, peer);
  push(attacker.client(), peer, 5'000);
  expect_only_peers(attacker, node.worker_of("attacker"), other);
  // The daemon makes the connection again.
  push(attacker.client(), peer, 6'000);
}

TEST_F(HostileKernel, GivenRequestsToTheDaemonThenItReachesNoOtherServices) {
  const Node node({"--worker-ports", "none"});
  Client other(node, "other");
  other.set_up();
  Attacker attacker(node, "attacker");
  const Service service;
  daemon::DialRequest request;
  request.number = 1;
  request.endpoint = service.endpoint();
  request.secret = Bytes(32, 7);
  ask(attacker, request);
  // The service sees what Clique's connections begin with, and its answer is not the one that it would need.
  const Fd connection = service.next();
  StreamRequest::Message begin{};
  ASSERT_EQ(::recv(connection.get(), begin.data(), begin.size(), MSG_WAITALL),
            static_cast<ssize_t>(begin.size()));
  const std::string answer(StreamAnswer::kBytes, '2');
  ASSERT_EQ(::send(connection.get(), answer.data(), answer.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(answer.size()));
  EXPECT_LE(::recv(connection.get(), begin.data(), begin.size(), 0), 0) << "the daemon does not hang up";
  EXPECT_TRUE(eventually([&] { return node.logged("does not know the session's key"); })) << node.log();
  // The log names the session, and the place.
  EXPECT_TRUE(node.logged("gets no connection to '" + service.endpoint() + "': ")) << node.log();
  // A worker's own secret does not make it anything else.
  request.number = 2;
  request.endpoint = "vsock://2:1";
  ask(attacker, request);
  EXPECT_TRUE(eventually([&] { return node.logged("'vsock://2:1' is not tcp://HOST:PORT"); })) << node.log();
  EXPECT_GT(attacker.call(SYS_getpid), 0);
  expect_unharmed(node, other);
}

TEST_F(HostileKernel, GivenTooManyRequestsForConnectionsThenItsSessionEnds) {
  const Node node({"--worker-ports", "none"});
  Client other(node, "other");
  other.set_up();
  Attacker attacker(node, "attacker");
  const pid_t victim = node.worker_of("attacker");
  // It accepts connections, and never answers.
  const Service service;
  daemon::DialRequest request;
  request.endpoint = service.endpoint();
  request.secret = Bytes(32, 7);
  const auto ended = [&] { return !alive(victim); };
  EXPECT_TRUE(eventually([&] {
    const std::string bytes = packet_of(request);
    ++request.number;
    if (!ended()) attacker.post(SYS_sendto, {kControlChannel, bytes, bytes.size(), 0, 0, 0});
    return ended();
  }));
  EXPECT_TRUE(
      node.logged("asks for more than 64 connections at a time, the last one to '" + service.endpoint()))
      << node.log();
  expect_unharmed(node, other);
}

TEST_F(HostileKernel, GivenAnyThenItOnlyAddsLinesOfItsOwnToTheLog) {
  const Node node;
  Client other(node, "other");
  other.set_up();
  Attacker attacker(node, "attacker");
  const std::string before = node.log();
  EXPECT_LT(attacker.call(SYS_ftruncate, {STDERR_FILENO, 0}), 0);
  EXPECT_LT(attacker.call(SYS_lseek, {STDERR_FILENO, 0, SEEK_SET}), 0);
  EXPECT_LT(attacker.call(SYS_read, {STDERR_FILENO, Argument::memory(64), 64}), 0);
  const std::string lines =
      "2026-11-27 00:00:00.000 cliqued[1] info: \x1b[2Jsession 9 began\n"
      "worker[1] error: it has failed\n";
  ASSERT_EQ(attacker.call(SYS_write, {STDERR_FILENO, lines, lines.size()}), static_cast<long>(lines.size()));
  const std::string said = "process " + std::to_string(node.worker_of("attacker")) + " says: ";
  EXPECT_TRUE(eventually([&] {
    return node.logged(said + "2026-11-27 00:00:00.000 cliqued[1] info: \\x1b[2Jsession 9 began\n") &&
           node.logged(said + "worker[1] error: it has failed\n");
  })) << node.log();
  EXPECT_TRUE(node.log().starts_with(before));
  EXPECT_EQ(node.log().find('\x1b'), std::string::npos);
  expect_unharmed(node, other);
}

TEST_F(HostileKernel, GivenAFloodOfLinesThenTheLogGetsFewOfThem) {
  const Node node;
  Client other(node, "other");
  other.set_up();
  Attacker attacker(node, "attacker");
  constexpr std::size_t kLines = 1500;
  std::string lines;
  for (std::size_t i = 0; i < kLines; ++i) lines += "x\n";
  ASSERT_EQ(attacker.call(SYS_write, {STDERR_FILENO, lines, lines.size()}), static_cast<long>(lines.size()));
  // The lines may be read in two different seconds.
  const std::string said = "process " + std::to_string(node.worker_of("attacker")) + " says: ";
  const auto count = [&] {
    const std::string log = node.log();
    std::size_t found = 0;
    for (std::size_t at = log.find(said); at != std::string::npos; at = log.find(said, at + 1)) ++found;
    return found;
  };
  EXPECT_TRUE(eventually([&] { return count() > 0; })) << node.log();
  EXPECT_TRUE(eventually([&] {
    attacker.call(SYS_write, {STDERR_FILENO, "y\n", 2});
    return node.logged(said + "y\n");
  })) << node.log();
  EXPECT_TRUE(eventually([&] {
    return node.logged("the workers of \"user ") &&
           node.logged("wrote more than 100 lines in a second to standard error; ");
  })) << node.log();
  EXPECT_LT(count(), kLines / 2);
  expect_unharmed(node, other);
}

TEST_F(HostileKernel, GivenPrivateWorkersThenItOnlyAddsTextToTheTerminalOfTheProgram) {
  look_at_caches();
  Terminal terminal;
  const PrivateWorkers workers(terminal.descriptor());
  Attacker attacker(workers.first());
  // To type into a terminal, a process must have it.
  EXPECT_EQ(attacker.call(SYS_ioctl, {STDERR_FILENO, TCGETS, Argument::memory(64)}), -ENOTTY);
  EXPECT_EQ(attacker.call(SYS_ioctl, {STDERR_FILENO, TIOCSTI, "x"}), -ENOTTY);
  const std::string text = "\x1b[2J\x1b]0;title\x07 the end\n";
  ASSERT_EQ(attacker.call(SYS_write, {STDERR_FILENO, text, text.size()}), static_cast<long>(text.size()));
  const std::string shown = terminal.shown(" the end");
  EXPECT_NE(shown.find("\\x1b[2J\\x1b]0;title\\x07 the end"), std::string::npos) << shown;
  EXPECT_EQ(shown.find('\x1b'), std::string::npos);
}

TEST_F(HostileKernel, GivenSessionsEndThenTheirFoldersAreGone) {
  look_at_caches();
  Node node;
  {
    Attacker attacker(node, "attacker");
    EXPECT_GE(folders("session-"), 1U);
  }
  node.signal(SIGTERM);
  node.wait();
  EXPECT_EQ(folders("session-"), 0U);
}

TEST_F(HostileKernel, GivenADaemonWasKilledThenTheNextOneRemovesItsFolders) {
  look_at_caches();
  {
    const Node node;  // Killed at the end.
    ASSERT_TRUE(eventually([&] { return !node.workers().empty(); }));
  }
  ASSERT_GE(folders("session-"), 1U);
  Node node;
  node.signal(SIGTERM);
  node.wait();
  EXPECT_EQ(folders("session-"), 0U);
}

TEST_F(HostileKernel, GivenASessionHasEndedThenTheNextOneOfItsOwnerHasItsPrograms) {
  look_at_caches();
  const Node node;
  // The owner is this test's user.
  const auto kept = [this] {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(caches_, missing))
      if (entry.path().filename().string().starts_with("programs-of-user")) return entry.path();
    return fs::path();
  };
  for (int session = 0; session < 3; ++session) {
    {
      Attacker attacker(node, "attacker" + std::to_string(session));
      // The session has taken the kept programs, so no other session can have them now.
      EXPECT_TRUE(session == 0 || fs::is_empty(kept()));
      attacker.client().send(Goodbye{});
    }
    ASSERT_TRUE(eventually([&] { return fs::exists(kept()) && !fs::is_empty(kept()); }));
  }
}

TEST_F(HostileKernel, GivenALinkInsteadOfProgramsThenItIsNotKept) {
  look_at_caches();
  const fs::path others = folder_ / "others";
  fs::create_directory(others);
  std::ofstream(others / "file") << "not its own";
  const Node node;
  {
    Attacker attacker(node, "attacker");
    unsigned replaced = 0;
    for (const auto& entry : fs::directory_iterator(caches_)) {
      const std::string folder = entry.path();
      // Only one of these folders belongs to the session.
      if (attacker.call(SYS_rename, {folder + "/pocl", folder + "/other"}) == 0 &&
          attacker.call(SYS_symlink, {others, folder + "/pocl"}) == 0)
        ++replaced;
    }
    EXPECT_EQ(replaced, 1U);
    attacker.client().send(Goodbye{});
  }
  Client later(node);
  later.set_up();
  EXPECT_EQ(later.finish().status, 0);
  EXPECT_TRUE(fs::exists(others / "file"));
}

}  // namespace
}  // namespace clique::test
