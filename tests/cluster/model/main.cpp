// Random OpenCL programs over the nodes of CLIQUE_NODES, compared with a model of the content that they have
// to read. docs/testing.md describes how to replay one.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "cluster/model/program.hpp"

namespace clique::test::model {

namespace {

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t seeds = 1;
  std::size_t steps = 60;
  std::size_t threads = 0;  ///< 0: the seed decides
  bool loss = false;
  bool print = false;
  unsigned limit = 60;  ///< time limit of one seed, in seconds
};

constexpr const char* kUsage =
    "model_tests [--seed N] [--seeds N] [--steps N] [--threads N] [--loss] [--print] [--limit S]\n"
    "  --seed N     the first program; 1\n"
    "  --seeds N    how many programs, with the seeds N, N + 1, ...; 1\n"
    "  --steps N    of each thread; 60\n"
    "  --threads N  of each program, instead of what the seed says\n"
    "  --loss       a node's worker is killed at some step; one thread, every seed a process of its own\n"
    "  --print      tells what the programs do\n"
    "  --limit S    seconds that a program may take before it counts as hanging; 60\n";

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto number = [&] {
      if (i + 1 == argc) throw std::invalid_argument(name + " needs a number");
      return std::stoull(argv[++i]);
    };
    if (name == "--seed") {
      options.seed = number();
    } else if (name == "--seeds") {
      options.seeds = number();
    } else if (name == "--steps") {
      options.steps = number();
    } else if (name == "--threads") {
      options.threads = number();
    } else if (name == "--limit") {
      options.limit = static_cast<unsigned>(number());
    } else if (name == "--loss") {
      options.loss = true;
    } else if (name == "--print") {
      options.print = true;
    } else {
      throw std::invalid_argument("what is " + name + "?");
    }
  }
  return options;
}

/// A context for some devices, with the kernels. Created once for each choice of devices.
struct Setting {
  Context context;
  cl_program program;
};

Setting& setting(const std::vector<std::size_t>& used) {
  static std::map<std::vector<std::size_t>, Setting> made;
  const auto found = made.find(used);
  if (found != made.end()) return found->second;
  std::vector<cl_device_id> chosen;
  for (const std::size_t index : used) chosen.push_back(devices()[index]);
  cl_int err = CL_SUCCESS;
  Context context(
      clCreateContext(nullptr, static_cast<cl_uint>(chosen.size()), chosen.data(), nullptr, nullptr, &err));
  if (err != CL_SUCCESS) throw Wrong("clCreateContext returned " + std::to_string(err));
  const char* source = Program::source();
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &err);
  if (err == CL_SUCCESS) err = clBuildProgram(program, 0, nullptr, "", nullptr, nullptr);
  if (err != CL_SUCCESS) throw Wrong("the kernels cannot be built: " + std::to_string(err));
  return made.emplace(used, Setting{std::move(context), program}).first->second;
}

/// Ends this process if a seed takes too long, and prints what its threads were doing.
class Watchdog {
 public:
  Watchdog(unsigned seconds, std::function<void()> report)
      : thread_([this, seconds, report = std::move(report)] {
          std::unique_lock lock(mutex_);
          if (changed_.wait_for(lock, std::chrono::seconds(seconds), [this] { return over_; })) return;
          report();
          std::_Exit(EXIT_FAILURE);
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

/// Kills the worker of this process on a node. It is the daemon's oldest; the others wait for later sessions.
void kill_worker(std::size_t node) {
  const char* list = std::getenv("CLIQUE_TEST_DAEMONS");
  if (list == nullptr) throw Wrong("--loss needs tests/cluster/with_nodes");
  std::istringstream daemons(list);
  std::string daemon;
  for (std::size_t i = 0; i <= node; ++i) std::getline(daemons, daemon, ',');
  std::ifstream children("/proc/" + daemon + "/task/" + daemon + "/children");
  pid_t child = 0;
  if (!(children >> child)) throw Wrong("the node has no worker");
  ::kill(child, SIGKILL);
}

/// Runs the programs of one seed: one for each host thread, in one or several contexts.
bool run_seed(std::uint64_t seed, const Options& options) {
  Random random(seed * 0x9E3779B97F4A7C15U + 1);
  const std::size_t all = devices().size();
  const std::size_t drawn = random.percent(60) ? 1 : random.between(2, 3);
  // Only one thread knows when a node is lost.
  const std::size_t count = options.loss ? 1 : options.threads != 0 ? options.threads : drawn;
  std::vector<std::size_t> everywhere(all);
  for (std::size_t i = 0; i < all; ++i) everywhere[i] = i;

  std::vector<std::unique_ptr<Program>> programs;
  std::vector<std::string> titles;
  const std::size_t lost_node = random.below(all);
  const std::size_t lost_at = random.below(options.steps);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::size_t> used = everywhere;
    if (random.percent(25)) {
      used.assign(1, random.below(all));
      if (all > 1 && random.percent(70)) used.push_back((used.front() + 1) % all);
    }
    std::optional<Loss> loss;
    if (options.loss) loss = Loss{lost_at, lost_node, [lost_node] { kill_worker(lost_node); }};
    Setting& where = setting(used);
    programs.push_back(
        std::make_unique<Program>(seed * 16 + i, where.context, used, where.program, std::move(loss)));
    std::string title = "seed " + std::to_string(seed) + ", thread " + std::to_string(i) + ", devices";
    for (const std::size_t device : used) title += " " + std::to_string(device);
    titles.push_back(title);
  }
  const auto print = [&](std::size_t i) {
    std::printf("== %s\n%s", titles[i].c_str(), programs[i]->log().c_str());
  };
  std::vector<std::string> wrong(count);
  {
    const Watchdog watchdog(options.limit, [&] {
      for (std::size_t i = 0; i < count; ++i) print(i);
      std::printf("HANGS: seed %llu has not ended after %u s\n", static_cast<unsigned long long>(seed),
                  options.limit);
      std::fflush(stdout);
    });
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i)
      threads.emplace_back([&, i] {
        try {
          programs[i]->run(options.steps);
        } catch (const std::exception& error) {
          wrong[i] = error.what();
        }
      });
    threads.clear();
    for (std::size_t i = 0; i < count; ++i)
      if (options.print || !wrong[i].empty()) print(i);
    programs.clear();
  }
  bool right = true;
  for (std::size_t i = 0; i < count; ++i)
    if (!wrong[i].empty()) {
      right = false;
      std::printf("WRONG: %s: %s\n", titles[i].c_str(), wrong[i].c_str());
    }
  std::fflush(stdout);
  return right;
}

/// Runs every seed in a process of its own, because a lost node does not come back in the same process.
bool run_in_processes(const Options& options, const char* self) {
  bool right = true;
  for (std::uint64_t i = 0; i < options.seeds; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const std::string seed = std::to_string(options.seed + i);
      const std::string steps = std::to_string(options.steps);
      const std::string threads = std::to_string(options.threads);
      const std::string limit = std::to_string(options.limit);
      ::execl(self, self, "--loss", "--seed", seed.c_str(), "--steps", steps.c_str(), "--threads",
              threads.c_str(), "--limit", limit.c_str(), options.print ? "--print" : nullptr, nullptr);
      std::_Exit(127);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) {
      right = false;
      std::printf("seed %llu: status %d\n", static_cast<unsigned long long>(options.seed) + i, status);
    }
  }
  return right;
}

/// Whether all devices are available. Otherwise further programs would be pointless.
bool all_available() {
  for (const cl_device_id device : devices()) {
    cl_bool available = CL_FALSE;
    clGetDeviceInfo(device, CL_DEVICE_AVAILABLE, sizeof available, &available, nullptr);
    if (available == CL_FALSE) return false;
  }
  return true;
}

int run(const Options& options, const char* self) {
  if (options.loss && options.seeds > 1) return run_in_processes(options, self) ? EXIT_SUCCESS : EXIT_FAILURE;
  std::uint64_t failed = 0;
  std::uint64_t done = 0;
  while (done < options.seeds && (failed == 0 || all_available())) {
    failed += run_seed(options.seed + done, options) ? 0 : 1;
    ++done;
  }
  if (!options.loss)
    std::printf("%llu programs, %llu wrong\n", static_cast<unsigned long long>(done),
                static_cast<unsigned long long>(failed));
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

}  // namespace clique::test::model

int main(int argc, char** argv) {
  using namespace clique::test::model;
  try {
    return run(parse(argc, argv), "/proc/self/exe");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), kUsage);
    return 2;
  }
}
