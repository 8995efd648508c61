// clique trace: runs a program with CLIQUE_TRACE, and summarises traces.
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/common/commands.hpp"
#include "cli/trace/trace_summary.hpp"

namespace clique::cli {

namespace {

struct TraceOptions {
  std::string file;
  bool summary = false;
  bool json = false;
  std::vector<std::string> program;
};

/// Makes the file, or empties it: the library appends.
void make_empty(const std::string& file) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    throw Failed(file + " cannot be written: " + std::strerror(errno) + "; name another file with -o");
  ::close(descriptor);
}

std::atomic<pid_t> traced_program{0};

void pass_on(int signal) {
  if (const pid_t program = traced_program) ::kill(program, signal);
}

/// While it exists, signals end the program and not this process, which has the summary to print. The
/// terminal sends SIGINT and SIGQUIT to both; others are passed on.
class SignalsForProgram {
 public:
  SignalsForProgram() {
    for (std::size_t i = 0; i < kOfTerminal.size(); ++i) before_[i] = std::signal(kOfTerminal[i], SIG_IGN);
    for (const int signal : {SIGTERM, SIGHUP}) std::signal(signal, pass_on);
  }
  ~SignalsForProgram() {
    for (std::size_t i = 0; i < kOfTerminal.size(); ++i) std::signal(kOfTerminal[i], before_[i]);
    for (const int signal : {SIGTERM, SIGHUP}) std::signal(signal, SIG_DFL);
  }
  SignalsForProgram(const SignalsForProgram&) = delete;
  SignalsForProgram& operator=(const SignalsForProgram&) = delete;

  /// The signals that the program must not ignore as this process does.
  sigset_t to_default() const {
    sigset_t signals;
    sigemptyset(&signals);
    for (std::size_t i = 0; i < kOfTerminal.size(); ++i)
      if (before_[i] == SIG_DFL) sigaddset(&signals, kOfTerminal[i]);
    return signals;
  }

 private:
  static constexpr std::array<int, 2> kOfTerminal{SIGINT, SIGQUIT};
  std::array<void (*)(int), kOfTerminal.size()> before_{};
};

/// Runs the program. @returns its exit status as shells give it
int run_traced(const std::vector<std::string>& program) {
  std::vector<char*> arguments;
  arguments.reserve(program.size() + 1);
  for (const std::string& argument : program) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  const SignalsForProgram passed_on;
  const sigset_t signals = passed_on.to_default();
  // A signal that comes before the program is known has to wait.
  sigset_t all;
  sigset_t mask;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &mask);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  posix_spawnattr_setsigmask(&attributes, &mask);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments[0], nullptr, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error == 0) traced_program = child;
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  if (error != 0) throw Failed("the program " + program[0] + " cannot be run: " + std::strerror(error));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) throw Failed(std::string("waiting for the program failed: ") + std::strerror(errno));
  constexpr int kSignalled = 128;
  return WIFSIGNALED(status) ? kSignalled + WTERMSIG(status) : WEXITSTATUS(status);
}

/// Exits with the program's status.
[[noreturn]] void trace_program(const TraceOptions& options) {
  // The program may change its folder.
  const std::string file = std::filesystem::absolute(options.file).string();
  make_empty(file);
  ::setenv("CLIQUE_TRACE", file.c_str(), 1);
  const int status = run_traced(options.program);
  struct stat found{};
  if (::stat(file.c_str(), &found) == 0 && found.st_size == 0) {
    std::fprintf(
        stderr,
        "clique: %s is empty: %s has not used Clique's devices. 'clinfo -l' shows whether the platform "
        "Clique is installed\n",
        options.file.c_str(), options.program[0].c_str());
  } else if (options.summary) {
    try {
      print_trace_summary(file, stderr, options.json);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "clique: %s\n", error.what());
    }
  }
  std::fflush(nullptr);
  std::exit(status);
}

void trace_or_summarise(const TraceOptions& options) {
  if (options.json && !options.summary) throw Failed("--json is for the summary; add --summary");
  if (!options.file.empty()) {
    if (options.program.empty()) throw Failed("no program to trace is given; write it after --");
    trace_program(options);
  }
  if (!options.summary)
    throw Failed(
        "no file for the trace is given; name it with -o, or summarise an existing one with --summary");
  if (options.program.size() != 1)
    throw Failed("--summary without -o takes one file with a trace; to trace a program, name a file with -o");
  print_trace_summary(options.program[0], stdout, options.json);
}

}  // namespace

void add_trace(CLI::App& app, Action& chosen) {
  CLI::App* const command = app.add_subcommand(
      "trace",
      "Run an OpenCL program and record what it does on Clique's devices, for https://ui.perfetto.dev;\n"
      "or summarise such a trace. The exit status is the program's");
  auto options = std::make_shared<TraceOptions>();
  command->add_option("-o,--output", options->file, "The file for the trace, which is replaced")
      ->type_name("FILE");
  command->add_flag(
      "--summary", options->summary,
      "Print where the time went: after the program, on standard error; without a program, of FILE");
  command->add_flag(
      "--json", options->json,
      "With --summary: print it as JSON, with all kernels, calls and migrations; times are in ns");
  command->add_option("PROGRAM", options->program, "The program and its arguments, after --; or FILE")
      ->required();
  command->callback([=, &chosen] { chosen = [=] { trace_or_summarise(*options); }; });
}

}  // namespace clique::cli
