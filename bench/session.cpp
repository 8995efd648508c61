// The times of a short program that has run before: from the start of its process to its first result, and to
// its end. Measured after a pause, as when a user starts it, and directly after another run, as in a script.
// Or the same for several programs at once, which end when all have their results.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "opencl.hpp"

namespace {

using namespace bench;

struct SessionOptions : OpenCLOptions {
  bool child = false;
  bool everywhere = false;
  size_t at_once = 1;
  double rest = 1;
};

[[noreturn]] void fail(const char* call, int error) {
  throw std::system_error(error, std::generic_category(), call);
}

/// The short program: creates a context and a program, runs a kernel on one device or on each, and reads the
/// results. Then writes a byte to standard output, and returns when standard input ends.
void be_the_program(const SessionOptions& options) {
  constexpr cl_uint count = 1024;
  std::vector<cl::Device> devices = devices_of(options.platform);
  if (!options.everywhere) devices.resize(1);
  const cl::Context context(devices);
  cl::Kernel kernel = build_kernel(
      context,
      "kernel void squares(global uint* to) { to[get_global_id(0)] = get_global_id(0) * get_global_id(0); }",
      "squares");
  std::vector<std::pair<cl::CommandQueue, cl::Buffer>> places;
  for (const cl::Device& device : devices) {
    auto& [queue, buffer] = places.emplace_back(
        cl::CommandQueue(context, device), cl::Buffer(context, CL_MEM_WRITE_ONLY, count * sizeof(cl_uint)));
    kernel.setArg(0, buffer);
    queue.enqueueNDRangeKernel(kernel, cl::NullRange, {count});
    queue.flush();
  }
  for (const auto& [queue, buffer] : places) {
    std::vector<cl_uint> squares(count);
    queue.enqueueReadBuffer(buffer, CL_TRUE, 0, count * sizeof(cl_uint), squares.data());
    for (cl_uint i = 0; i < count; ++i)
      if (squares[i] != i * i)
        throw std::runtime_error("a device computed " + std::to_string(squares[i]) + " as the square of " +
                                 std::to_string(i));
  }
  if (write(STDOUT_FILENO, "r", 1) != 1) fail("write", errno);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

/// A pipe whose ends children only have if they are passed explicitly.
std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) fail("pipe2", errno);
  return ends;
}

/// A process that runs the short program.
struct Program {
  pid_t pid = 0;
  int result = -1;
};

Program start(const SessionOptions& options, int input) {
  const auto result = make_pipe();
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, result[1], STDOUT_FILENO);
  std::vector<std::string> words{"/proc/self/exe", "--child", "--platform", options.platform};
  if (options.everywhere) words.emplace_back("--everywhere");
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // Not /proc/self/exe: in the child, "self" is already the child, which does not run this program yet.
  const std::string program = "/proc/" + std::to_string(getpid()) + "/exe";
  Program started{0, result[0]};
  const int error = posix_spawn(&started.pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(result[1]);
  if (error != 0) fail("posix_spawn", error);
  return started;
}

/// Runs the short programs. Returns the seconds until the last one has its result. Throws if one fails.
double start_to_result(const SessionOptions& options) {
  const auto input = make_pipe();
  std::vector<Program> programs;
  const double time = seconds([&] {
    for (size_t i = 0; i < options.at_once; ++i) programs.push_back(start(options, input[0]));
    for (const Program& program : programs) {
      char byte = 0;
      if (read(program.result, &byte, 1) != 1)
        throw std::runtime_error("a child process ended without a result");
    }
  });
  close(input[0]);
  close(input[1]);
  for (const Program& program : programs) {
    close(program.result);
    int status = 0;
    if (waitpid(program.pid, &status, 0) != program.pid || status != 0)
      throw std::runtime_error("a child process failed with wait status " + std::to_string(status));
  }
  return time;
}

void measure(const SessionOptions& options) {
  if (options.child) {
    be_the_program(options);
    return;
  }
  const std::string which =
      options.at_once == 1 ? "process start to " : std::to_string(options.at_once) + " processes' start to ";
  const std::array<std::string, 2> what = options.at_once == 1
                                              ? std::array<std::string, 2>{"first result", "its end"}
                                              : std::array<std::string, 2>{"all results", "their end"};
  const auto report_starts = [&](std::chrono::duration<double> rest, const std::string& how) {
    std::vector<double> whole;
    const double to_result = median(options.repeats, [&] {
      std::this_thread::sleep_for(rest);
      double time = 0;
      whole.push_back(seconds([&] { time = start_to_result(options); }));
      return time;
    });
    whole.erase(whole.begin());  // the run to warm up
    report(which + what[0] + how, 1e3 * to_result, "ms");
    report(which + what[1] + how, 1e3 * median(whole), "ms");
  };
  report_starts(std::chrono::duration<double>(options.rest), "");
  report_starts({}, ", one after another");
}

}  // namespace

int main(int argc, char** argv) {
  SessionOptions options;
  const auto add = [&](CommandLine& line) {
    line.flag("--child", options.child, "run the short program; for internal use");
    line.flag("--everywhere", options.everywhere,
              "run a kernel on each device of the platform instead of only the first");
    line.option("--at-once", options.at_once, "number of programs at the same time", 1);
    line.option("--rest", options.rest,
                "pause before each run, in seconds, except for those in quick succession", 0);
  };
  return bench::run_opencl(argc, argv, "Start of a session", options, add, [&] { measure(options); });
}
