#include "icd/remote/nodes/detached_process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>

#include "icd/remote/threads.hpp"

namespace clique::icd {

namespace {

#ifdef CLIQUE_SANITIZE_THREAD
// ThreadSanitizer takes any clone() for a fork, and the calling thread's state, which the child shares, for
// the child's own. It would no longer see the locks of this thread.
extern "C" int clone_unnoticed(int (*)(void*), void*, int, void*, ...) __asm__("__clone");
#else
constexpr auto clone_unnoticed = ::clone;
#endif

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

/// The file actions and the attributes for posix_spawn.
class SpawnSettings {
 public:
  explicit SpawnSettings(int inherited) {
    check(posix_spawn_file_actions_init(&actions_), "posix_spawn_file_actions_init");
    check(posix_spawnattr_init(&attributes_), "posix_spawnattr_init");
    check(posix_spawn_file_actions_adddup2(&actions_, inherited, kInheritedFd), "adddup2");
    check(posix_spawn_file_actions_addclosefrom_np(&actions_, kInheritedFd + 1), "addclosefrom");
    check(posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0), "addopen");
    check(posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0), "addopen");
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    check(posix_spawnattr_setsigmask(&attributes_, &none), "setsigmask");
    check(posix_spawnattr_setsigdefault(&attributes_, &all), "setsigdefault");
    check(posix_spawnattr_setpgroup(&attributes_, 0), "setpgroup");
    check(posix_spawnattr_setflags(&attributes_,
                                   POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP),
          "setflags");
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  const posix_spawn_file_actions_t* actions() const { return &actions_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// The stack of the intermediate process.
class Stack {
 public:
  Stack()
      : base_(
            ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {
    if (base_ == MAP_FAILED) check(errno, "mmap");
  }
  ~Stack() { ::munmap(base_, kSize); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  void* top() const { return static_cast<char*>(base_) + kSize; }

 private:
  static constexpr std::size_t kSize = 256U << 10U;
  void* base_;
};

struct Order {
  const char* path;
  char* const* arguments;
  char* const* environment;
  const SpawnSettings* settings;
  int error = 0;
};

/// Runs in the intermediate process, which shares this process's memory while the calling thread is
/// suspended.
int carry_out(void* object) {
  auto* order = static_cast<Order*>(object);
  pid_t pid = 0;
  order->error = ::posix_spawn(&pid, order->path, order->settings->actions(), order->settings->attributes(),
                               order->arguments, order->environment);
  return 0;
}

/// The environment of this process without LD_PRELOAD. Preloaded libraries are meant for the application
/// alone: an interposer that logs OpenCL calls would log the driver's calls among the application's, into the
/// same files.
std::vector<char*> environment_of_program() {
  std::vector<char*> result;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!std::string_view(*variable).starts_with("LD_PRELOAD=")) result.push_back(*variable);
  result.push_back(nullptr);
  return result;
}

}  // namespace

void start_detached(const std::string& path, std::vector<std::string> arguments, int inherited) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  // The actions need a number that is neither kInheritedFd nor one that they open.
  const int safe = ::fcntl(inherited, F_DUPFD_CLOEXEC, kInheritedFd + 1);
  if (safe < 0) check(errno, "fcntl");
  struct Close {
    int fd;
    ~Close() { ::close(fd); }
  } close{safe};

  const SpawnSettings settings(safe);
  const Stack stack;
  const std::vector<char*> environment = environment_of_program();
  Order order{path.c_str(), pointers.data(), environment.data(), &settings};
  // An intermediate process starts the program and exits, so that the program becomes init's child. The
  // intermediate process is created without an exit signal: it raises no SIGCHLD, and the application's
  // wait() does not see it.
  const NoSignals quiet;
  const pid_t between = clone_unnoticed(carry_out, stack.top(), CLONE_VM | CLONE_VFORK, &order);
  if (between < 0) check(errno, "clone");
  while (::waitpid(between, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
  check(order.error, path.c_str());
}

}  // namespace clique::icd
