// How long a short program takes that has run before: from the start of its process to its first result, and
// to its end.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "opencl.hpp"

namespace {

using namespace bench;

struct SessionOptions : OpenCLOptions {
  bool child = false;
};

[[noreturn]] void fail(const char* call, int error) {
  throw std::system_error(error, std::generic_category(), call);
}

/// The short program: a context, a program, one kernel, its result. Writes a byte once it has that.
void be_the_program(const std::string& platform) {
  constexpr cl_uint count = 1024;
  const cl::Device device = devices_of(platform).at(0);
  const cl::Context context(device);
  const cl::CommandQueue queue(context, device);
  const cl::Buffer buffer(context, CL_MEM_WRITE_ONLY, count * sizeof(cl_uint));
  cl::Kernel kernel = build_kernel(
      context,
      "kernel void squares(global uint* to) { to[get_global_id(0)] = get_global_id(0) * get_global_id(0); }",
      "squares");
  kernel.setArg(0, buffer);
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, {count});
  std::vector<cl_uint> squares(count);
  queue.enqueueReadBuffer(buffer, CL_TRUE, 0, count * sizeof(cl_uint), squares.data());
  for (cl_uint i = 0; i < count; ++i)
    if (squares[i] != i * i) throw std::runtime_error("a wrong result");
  if (write(STDOUT_FILENO, "r", 1) != 1) fail("write", errno);
}

/// Runs the short program, and returns the seconds until its result. Throws where it fails.
double start_to_result(const std::string& platform) {
  std::array<int, 2> result{};
  if (pipe(result.data()) != 0) fail("pipe", errno);
  posix_spawn_file_actions_t actions{};
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, result[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, result[0]);
  std::array<std::string, 4> words{"/proc/self/exe", "--child", "--platform", platform};
  std::array<char*, 5> arguments{};
  std::transform(words.begin(), words.end(), arguments.begin(),
                 [](std::string& word) { return word.data(); });
  // A path of ours: in the child "self" is the child already, yet before it runs the new program.
  const std::string program = "/proc/" + std::to_string(getpid()) + "/exe";
  pid_t pid = 0;
  const double time = seconds([&] {
    const int error = posix_spawn(&pid, program.c_str(), &actions, nullptr, arguments.data(), environ);
    if (error != 0) fail("posix_spawn", error);
    close(result[1]);
    char byte = 0;
    if (read(result[0], &byte, 1) != 1) throw std::runtime_error("the program ended without a result");
  });
  posix_spawn_file_actions_destroy(&actions);
  close(result[0]);
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || status != 0) throw std::runtime_error("the program failed");
  return time;
}

void measure(const SessionOptions& options) {
  if (options.child) {
    be_the_program(options.platform);
    return;
  }
  std::vector<double> whole;
  const double to_result = median(options.repeats, [&] {
    double time = 0;
    whole.push_back(seconds([&] { time = start_to_result(options.platform); }));
    return time;
  });
  whole.erase(whole.begin());  // the run that warms up
  report("process start to first result", 1e3 * to_result, "ms");
  report("process start to its end", 1e3 * median(whole), "ms");
}

}  // namespace

int main(int argc, char** argv) {
  SessionOptions options;
  const auto add = [&](CLI::App& app) { app.add_flag("--child", options.child, "be the short program"); };
  return bench::run_opencl(argc, argv, "Start of a session", options, add, [&] { measure(options); });
}
