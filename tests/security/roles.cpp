// What each role may still do behind its walls. Each test runs in a child process that sets up the walls.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string_view>
#include <vector>

#include "daemon/confinement/confine.hpp"
#include "daemon/confinement/fixed_peer.hpp"
#include "daemon/confinement/system_calls.hpp"

namespace clique::daemon::confinement {
namespace {

namespace fs = std::filesystem;

class Roles : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(secret_) << "secret";
    std::ofstream(own_ / "file") << "own";
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// What `act` returns in a process with the role's walls.
  int in_role(Role role, const std::function<int()>& act, std::vector<fs::path> programs = {},
              Network network = Network::HandedOver) const {
    return in_child([&] {
      const auto missing =
          confine({role, own_, std::move(programs)}, Start::WithoutNamespaces, Mode::On, network);
      for (const auto& [wall, reason] : missing)
        if (wall == Wall::FileRights || wall == Wall::Network || wall == Wall::SystemCalls) return kNoWalls;
      return act();
    });
  }
  static int in_child(const std::function<int()>& act) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(act());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  static int error_of(long result) { return result < 0 ? errno : 0; }
  static int error_of_open(const fs::path& path, int flags = O_RDONLY) {
    return error_of(::open(path.c_str(), flags | O_CLOEXEC, 0600));
  }
  static int error_of_connect(std::uint16_t port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return errno;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return error_of(::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address));
  }
  static int status_of(const char* program) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::execl(program, program, nullptr);
      ::_exit(errno == EACCES ? 100 : 101);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  static fs::path temporary() {
    std::string name = fs::temp_directory_path() / "clique-test-XXXXXX";
    ::mkdtemp(name.data());
    fs::create_directory(fs::path(name) / "own");
    return name;
  }

  static constexpr int kNoWalls = 254;
  const fs::path folder_ = temporary();
  const fs::path secret_ = folder_ / "secret";
  const fs::path own_ = folder_ / "own";
};

#define CLIQUE_IN_ROLE(variable, ...)        \
  const int variable = in_role(__VA_ARGS__); \
  if (variable == kNoWalls) GTEST_SKIP() << "this kernel lacks Landlock or seccomp"

TEST_F(Roles, GivenAnyThenFilesOfOthersCannotBeRead) {
  for (const Role role : {Role::OpenClWorker, Role::CudaWorker, Role::Compiler, Role::Probe}) {
    CLIQUE_IN_ROLE(secret, role, [this] { return error_of_open(secret_); });
    EXPECT_EQ(secret, EACCES);
    EXPECT_EQ(in_role(role, [] { return error_of_open("/etc/passwd"); }), EACCES);
    EXPECT_EQ(in_role(role, [] { return error_of_open("/usr/bin/env"); }), 0);
    EXPECT_EQ(in_role(role, [] { return error_of_open("/dev/null", O_RDWR); }), 0);
  }
}

TEST_F(Roles, GivenWorkersThenTheyWriteInTheirFolderAlone) {
  for (const Role role : {Role::OpenClWorker, Role::CudaWorker}) {
    CLIQUE_IN_ROLE(own, role, [this] {
      fs::create_directories(own_ / "a/b");
      std::ofstream(own_ / "a/file") << "text";
      // PoCL moves files between folders.
      return error_of(::rename((own_ / "a/file").c_str(), (own_ / "a/b/file").c_str()));
    });
    EXPECT_EQ(own, 0);
    EXPECT_EQ(in_role(role, [this] { return error_of_open(folder_ / "new", O_WRONLY | O_CREAT); }), EACCES);
    EXPECT_EQ(in_role(role, [this] { return error_of_open(secret_, O_WRONLY); }), EACCES);
  }
  EXPECT_EQ(in_role(Role::Compiler, [this] { return error_of_open(own_ / "new", O_WRONLY | O_CREAT); }),
            EACCES);
}

TEST_F(Roles, GivenAnyThenItHasNoNetwork) {
  for (const Role role : {Role::OpenClWorker, Role::CudaWorker, Role::Compiler, Role::Probe}) {
    for (const int family : {AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_VSOCK}) {
      CLIQUE_IN_ROLE(network, role, [=] { return error_of(::socket(family, SOCK_DGRAM, 0)); });
      EXPECT_EQ(network, EPERM) << family;
    }
    const bool compiler = role == Role::Compiler;
    EXPECT_EQ(in_role(role, [] { return error_of(::socket(AF_UNIX, SOCK_STREAM, 0)); }),
              compiler ? EPERM : 0);
  }
}

TEST_F(Roles, GivenAWorkerWithANetworkOfItsOwnThenItConnects) {
  // Nobody listens at this port, and the worker is allowed to find that out.
  CLIQUE_IN_ROLE(network, Role::OpenClWorker, [] { return error_of_connect(1); }, {}, Network::Own);
  EXPECT_EQ(network, ECONNREFUSED);
}

/// Makes a system call fail with ENOSYS, as on an older kernel.
bool take_away(int number) {
  std::array<sock_filter, 4> code{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{code.size(), code.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(Roles, GivenNoLandlockThenPeersHaveToBeFixedByWhoeverHandsConnectionsOver) {
  constexpr int kPresent = 0;
  constexpr int kMissing = 1;
  constexpr int kUnknown = 2;
  const auto outcome = [this](Network network) {
    return in_child([&] {
      if (!take_away(SYS_landlock_create_ruleset)) return kUnknown;
      const auto missing =
          confine({Role::OpenClWorker, own_, {}}, Start::WithoutNamespaces, Mode::On, network);
      return std::any_of(missing.begin(), missing.end(),
                         [](const MissingWall& one) { return one.wall == Wall::Network; })
                 ? kMissing
                 : kPresent;
    });
  };
  const int with_fixed_peers = outcome(Network::FixedPeers);
  if (with_fixed_peers == kUnknown) GTEST_SKIP() << "this kernel lacks seccomp";
  EXPECT_EQ(with_fixed_peers, kPresent);
  // The worker itself has no capabilities by then.
  const int unprivileged = in_child([] {
    if (::setresuid(65534, 65534, 65534) != 0) return kUnknown;
    return can_fix_peers() ? kPresent : kMissing;
  });
  if (unprivileged == kUnknown) return;
  EXPECT_EQ(outcome(Network::HandedOver), unprivileged);
}

TEST_F(Roles, GivenAConnectionThenItSendsNothingWithTheBeginningOfAnother) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const int connection = ends[0];
  CLIQUE_IN_ROLE(sent, Role::OpenClWorker,
                 [=] { return error_of(::sendto(connection, "x", 1, MSG_FASTOPEN, nullptr, 0)); });
  EXPECT_EQ(sent, EPERM);
  EXPECT_EQ(
      in_role(Role::OpenClWorker,
              [=] {
                const int on = 1;
                return error_of(::setsockopt(connection, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof on));
              }),
      EPERM);
  EXPECT_EQ(in_role(Role::OpenClWorker, [=] { return error_of(::send(connection, "x", 1, 0)); }), 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Roles, GivenCompilerThenItStartsNothingButTheTranslator) {
  CLIQUE_IN_ROLE(shell, Role::Compiler, [] { return status_of("/bin/sh"); });
  EXPECT_EQ(shell, 101);
  EXPECT_EQ(in_role(Role::Compiler, [] { return status_of("/bin/true"); }, {"/bin/true"}), 0);
  EXPECT_EQ(in_role(Role::Compiler, [] { return status_of("/bin/sh"); }, {"/bin/true"}), 100);
}

TEST_F(Roles, GivenCompilerThenItHasTheSystemCallsThatItNeedsAlone) {
  struct Call {
    const char* name;
    std::function<long()> make;
    int error;
  };
  // The last ones are calls that no list names: the C library must take them for missing.
  const std::vector<Call> refused{
      {"memfd_create", [] { return ::memfd_create("program", 0); }, EPERM},
      {"execve", [] { return ::execl("/bin/true", "true", nullptr); }, EPERM},
      {"execveat", [] { return ::syscall(SYS_execveat, 0, "", nullptr, nullptr, AT_EMPTY_PATH); }, EPERM},
      {"ptrace", [] { return ::syscall(SYS_ptrace, 0, 0, 0, 0); }, EPERM},
      {"socket", [] { return ::socket(AF_UNIX, SOCK_STREAM, 0); }, EPERM},
      {"io_uring_setup", [] { return ::syscall(SYS_io_uring_setup, 1, nullptr); }, EPERM},
      {"bpf", [] { return ::syscall(SYS_bpf, 0, nullptr, 0); }, EPERM},
      {"userfaultfd", [] { return ::syscall(SYS_userfaultfd, 0); }, EPERM},
      {"keyctl", [] { return ::syscall(SYS_keyctl, 0, 0, 0, 0, 0); }, EPERM},
      {"clone", [] { return ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0); }, EPERM},
      {"unshare", [] { return ::unshare(CLONE_NEWNS); }, EPERM},
      {"clone3", [] { return ::syscall(SYS_clone3, nullptr, 0); }, ENOSYS},
      {"rename", [] { return ::rename("a", "b"); }, ENOSYS},
      {"eventfd2", [] { return ::eventfd(0, 0); }, ENOSYS},
      {"inotify_init1", [] { return ::inotify_init1(0); }, ENOSYS},
      {"ioctl", [] { return ::ioctl(0, TIOCSTI, ""); }, ENOSYS},
      {"a call of the future", [] { return ::syscall(4000); }, ENOSYS},
  };
  for (const Call& call : refused) {
    CLIQUE_IN_ROLE(error, Role::Compiler, [&call] { return error_of(call.make()); });
    EXPECT_EQ(error, call.error) << call.name;
    // The translator gets no more, but that it may be started.
    if (std::string_view(call.name) == "execve") continue;
    EXPECT_EQ(in_role(Role::Compiler, [&call] { return error_of(call.make()); }, {"/bin/true"}), call.error)
        << call.name;
  }
}

TEST_F(Roles, GivenNothingElseKeepsSignalsInThenSystemCallsDo) {
  const pid_t victim = ::getpid();
  const auto kill_error = [victim](pid_t whom) {
    return in_child([=] {
      try {
        // seccomp requires no_new_privs.
        confine({Role::Compiler, {}, {}}, Start::WithoutNamespaces, Mode::Off);
        restrict_system_calls({Role::OpenClWorker, {}, {}}, true);
      } catch (const std::exception&) {
        return kNoWalls;
      }
      return error_of(::kill(whom == 0 ? ::getpid() : victim, 0));
    });
  };
  if (kill_error(0) == kNoWalls) GTEST_SKIP() << "this kernel lacks seccomp";
  EXPECT_EQ(kill_error(0), 0);
  EXPECT_EQ(kill_error(victim), EPERM);
}

TEST_F(Roles, GivenAnyThenLimitsAndPrivilegesAreSet) {
  CLIQUE_IN_ROLE(limits, Role::OpenClWorker, [] {
    rlimit core{}, files{};
    ::getrlimit(RLIMIT_CORE, &core);
    ::getrlimit(RLIMIT_NOFILE, &files);
    return core.rlim_max == 0 && files.rlim_cur == files.rlim_max ? 0 : 1;
  });
  EXPECT_EQ(limits, 0);
  const int capabilities = in_role(Role::OpenClWorker, [] {
    std::ifstream status("/proc/self/status");
    int found = 0;
    for (std::string line; std::getline(status, line);)
      if (line == "CapEff:\t0000000000000000" || line == "CapPrm:\t0000000000000000" ||
          line == "NoNewPrivs:\t1")
        ++found;
    return found;
  });
  EXPECT_EQ(capabilities, 3);
}

}  // namespace
}  // namespace clique::daemon::confinement
