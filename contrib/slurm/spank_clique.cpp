// The SPANK plugin (spank(7)) for `srun --clique`: srun runs `clique-job --serve` as the user, sets the
// variables that it prints for the tasks, and ends it with itself. At the end of a job, slurmd runs
// `clique-job --clean`. Arguments in plugstack.conf are options of clique-job, such as --folder=/local.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The header declares the functions of plugins outside of its own extern "C".
extern "C" {
#include <slurm/spank.h>
}

namespace {

/// How long clique-job may take to end once its standard input has ended.
constexpr std::chrono::seconds kEndTime{10};
/// More than it prints, even for thousands of nodes.
constexpr std::size_t kMostOutput = 1U << 20U;
constexpr std::array<std::string_view, 3> kVariables{"CLIQUE_NODES", "CLIQUE_IDENTITY", "CLIQUE_KNOWN_NODES"};

bool option_given = false;

/// clique-job, while srun runs.
struct Helper {
  pid_t pid = -1;
  int input = -1;   ///< when it is closed, clique-job ends
  int output = -1;  ///< ends when clique-job has ended
} helper;

/// The path of clique-job, which is installed below the same prefix as this plugin.
std::string helper_path() {
  Dl_info info{};
  if (::dladdr(&option_given, &info) == 0 || info.dli_fname == nullptr) return "clique-job";
  return (std::filesystem::path(info.dli_fname).parent_path() / CLIQUE_JOB_FROM_PLUGIN).lexically_normal();
}

/// Starts clique-job with the arguments of plugstack.conf and these, in a session of its own, so that signals
/// of the terminal do not reach it. @param descriptors its standard input and output; @returns its pid, or an
/// error number below zero
pid_t spawn_helper(int argc, char** argv, const std::vector<std::string>& more,
                   const std::array<int, 2>& descriptors, char** environment) {
  std::vector<std::string> words{helper_path()};
  words.insert(words.end(), argv, argv + argc);
  words.insert(words.end(), more.begin(), more.end());
  std::vector<char*> arguments(words.size() + 1);
  std::transform(words.begin(), words.end(), arguments.begin(),
                 [](std::string& word) { return word.data(); });

  posix_spawn_file_actions_t files{};
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, descriptors[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&files, descriptors[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  // Slurm's programs block and ignore signals, which programs inherit.
  posix_spawnattr_t attributes{};
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &all);
  ::posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, arguments[0], &files, &attributes, arguments.data(), environment);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) slurm_spank_log("clique: %s cannot be started: %s", arguments[0], std::strerror(error));
  return error != 0 ? -error : pid;
}

/// Reads what clique-job prints until it is ready. @returns nothing if it has failed, which it reports itself
std::optional<std::string> read_variables(int output) {
  constexpr std::string_view kReady = "ready\n";
  std::string text;
  std::array<char, 4096> buffer{};
  while (!text.ends_with(kReady)) {
    const ssize_t count = ::read(output, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || text.size() > kMostOutput) return std::nullopt;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  text.resize(text.size() - kReady.size());
  return text;
}

/// Sets the variables in srun's environment, which its tasks inherit.
void set_variables(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    for (const std::string_view name : kVariables)
      if (line.starts_with(name) && line.substr(name.size()).starts_with('='))
        ::setenv(std::string(name).c_str(), std::string(line.substr(name.size() + 1)).c_str(), 1);
  }
}

bool start_helper(int argc, char** argv, std::uint32_t job) {
  std::array<int, 2> input{-1, -1};
  std::array<int, 2> output{-1, -1};
  if (::pipe2(input.data(), O_CLOEXEC) != 0 || ::pipe2(output.data(), O_CLOEXEC) != 0) {
    slurm_spank_log("clique: no pipe could be made: %s", std::strerror(errno));
    return false;
  }
  helper.pid =
      spawn_helper(argc, argv, {"--job=" + std::to_string(job), "--serve"}, {input[0], output[1]}, environ);
  ::close(input[0]);
  ::close(output[1]);
  helper.input = input[1];
  helper.output = output[0];
  if (helper.pid < 0) return false;
  const auto variables = read_variables(helper.output);
  if (variables) set_variables(*variables);
  return variables.has_value();
}

/// Waits for the end of clique-job, kEndTime at most.
void end_helper() {
  if (helper.pid < 0) return;
  ::close(helper.input);
  pollfd end{helper.output, POLLIN, 0};
  const auto limit = std::chrono::milliseconds(kEndTime).count();
  if (::poll(&end, 1, static_cast<int>(limit)) == 1) ::waitpid(helper.pid, nullptr, 0);
  ::close(helper.output);
  helper = {};
}

int take_option(int /*value*/, const char* /*argument*/, int /*remote*/) {
  option_given = true;
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// Constants have internal linkage in C++ unless they are declared like this before.
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;
SPANK_PLUGIN(clique, 1)

spank_option spank_options[] = {
    {const_cast<char*>("clique"), nullptr,
     const_cast<char*>(
         "offer the devices of all nodes of the job to each task, as the OpenCL platform Clique"),
     0, 0, take_option},
    SPANK_OPTIONS_TABLE_END};

/// In srun, when the job and its step exist, and before tasks are launched.
int slurm_spank_local_user_init(spank_t spank, int argc, char** argv) {
  std::uint32_t job = 0;
  if (!option_given) return 0;
  if (spank_get_item(spank, S_JOB_ID, &job) == ESPANK_SUCCESS && start_helper(argc, argv, job)) return 0;
  end_helper();
  // If plugstack.conf calls the plugin optional, tasks start nevertheless, and must not use other devices.
  ::setenv("CLIQUE_NODES", "off", 1);
  return -1;
}

int slurm_spank_exit(spank_t /*spank*/, int /*argc*/, char** /*argv*/) {
  if (spank_context() == S_CTX_LOCAL) end_helper();
  return 0;
}

/// In slurmd, as root, when a job has ended on this node. A failure would drain the node, so it is only
/// logged.
int slurm_spank_job_epilog(spank_t spank, int argc, char** argv) {
  std::uint32_t job = 0;
  uid_t user = 0;
  if (spank_get_item(spank, S_JOB_ID, &job) != ESPANK_SUCCESS ||
      spank_get_item(spank, S_JOB_UID, &user) != ESPANK_SUCCESS)
    return 0;
  std::string user_variable = "SLURM_JOB_UID=" + std::to_string(user);
  std::string path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
  std::array<char*, 3> environment{user_variable.data(), path.data(), nullptr};
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const pid_t pid =
      spawn_helper(argc, argv, {"--job=" + std::to_string(job), "--clean"}, {null, null}, environment.data());
  ::close(null);
  if (pid > 0) ::waitpid(pid, nullptr, 0);
  return 0;
}

}  // extern "C"
#pragma GCC visibility pop
