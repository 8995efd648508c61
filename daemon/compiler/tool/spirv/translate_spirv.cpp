#include "daemon/compiler/tool/spirv/translate_spirv.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "daemon/compiler/contract/spirv.hpp"
#include "protocol/fd.hpp"

namespace clique::daemon::compiler {

namespace {

/// Limit on the bitcode, in bytes: more than any program has.
constexpr rlim_t kLargestFile = rlim_t{1} << 30U;
/// In bytes. Further messages are dropped.
constexpr std::size_t kLongestLog = 64U << 10U;
/// The child's exit status if execve() fails.
constexpr int kCannotStart = 127;

void check(bool done, const char* what) {
  if (!done) throw std::system_error(errno, std::generic_category(), what);
}

/// A file in memory, which nobody can execute.
Fd memory_file(const char* name) {
  Fd file(::memfd_create(name, MFD_CLOEXEC));
  check(static_cast<bool>(file), "memfd_create");
  check(::fchmod(file.get(), S_IRUSR | S_IWUSR) == 0, "fchmod");
  return file;
}

/// What the translator reads and writes. It cannot read a pipe.
struct TranslatorFiles {
  const Fd input = memory_file("program.spv");
  const Fd output = memory_file("program.bc");
};

const TranslatorFiles& translator_files() {
  static const TranslatorFiles both;
  return both;
}

void empty_file(const Fd& file) {
  check(::ftruncate(file.get(), 0) == 0 && ::lseek(file.get(), 0, SEEK_SET) == 0, "ftruncate");
}

/// Empties the files when it begins and ends.
class UseOfFiles {
 public:
  UseOfFiles() { clear(); }
  ~UseOfFiles() {
    try {
      clear();
    } catch (const std::system_error&) {
      // The next use tries again.
    }
  }
  UseOfFiles(const UseOfFiles&) = delete;
  UseOfFiles& operator=(const UseOfFiles&) = delete;

 private:
  static void clear() {
    empty_file(translator_files().input);
    empty_file(translator_files().output);
  }
};

void write_all(int file, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    check(count > 0 || errno == EINTR, "write");
    if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  ::lseek(file, 0, SEEK_SET);
}

protocol::Bytes read_all(int file) {
  struct stat status{};
  check(::fstat(file, &status) == 0, "fstat");
  protocol::Bytes bytes(static_cast<std::size_t>(status.st_size));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    check(count > 0 || (count < 0 && errno == EINTR), "read");
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return bytes;
}

/// Reads messages until the other end of the pipe is closed.
std::string read_messages(int pipe) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t count = ::read(pipe, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    if (text.size() < kLongestLog) text.append(part.data(), static_cast<std::size_t>(count));
  }
  // A translator that aborts appends its stack trace.
  text.resize(std::min(text.find("PLEASE submit a bug report"), text.size()));
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

/// Turns the new process into the translator. Only calls functions that are safe after fork().
[[noreturn]] void become(const char* path, char* const* arguments, char* const* environment, int input,
                         int output, int messages, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotStart);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const rlimit largest{kLargestFile, kLargestFile};
  ::setrlimit(RLIMIT_FSIZE, &largest);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(messages, STDERR_FILENO);
  ::execve(path, arguments, environment);
  ::_exit(kCannotStart);
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Runs the translator.
/// @param messages receives its standard error
/// @returns its status, as waitpid() gives it
int run(const std::string& path, int input, int output, std::string& messages) {
  // The functions of OpenCL C 2.0 cover everything in SPIR-V, such as the scopes of atomic operations.
  std::vector<std::string> words{
      path, "-r", "--spirv-target-env=CL2.0", "--spirv-gen-kernel-arg-name-md", "-o", "-", "/dev/stdin"};
  std::vector<std::string> variables{"LLVM_DISABLE_SYMBOLIZATION=1"};
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  const auto arguments = pointers_to(words);
  const auto environment = pointers_to(variables);
  int ends[2];
  check(::pipe2(ends, O_CLOEXEC) == 0, "pipe");
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  check(child >= 0, "fork");
  if (child == 0)
    become(path.c_str(), arguments.data(), environment.data(), input, output, writer.get(), parent);
  writer = Fd();
  messages = read_messages(reader.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

void make_files_for_translator() {
  translator_files();
}

protocol::Bytes translate_spirv(std::span<const std::uint8_t> module, std::string& log) {
  const auto translator = find_spirv_translator();
  if (!translator)
    throw std::runtime_error(
        "this node cannot compile SPIR-V: install a package llvm-spirv-N, or set CLIQUE_SPIRV_TRANSLATOR to "
        "the "
        "path of llvm-spirv");
  const UseOfFiles use;
  const auto& [input, output] = translator_files();
  write_all(input.get(), module);
  std::string messages;
  const int status = run(translator->path, input.get(), output.get(), messages);
  log += messages;
  if (WIFSIGNALED(status))
    throw std::runtime_error(translator->path +
                             " crashed while translating the module: " + ::strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) == kCannotStart)
    throw std::runtime_error(translator->path +
                             " cannot be executed; check CLIQUE_SPIRV_TRANSLATOR and PATH");
  if (WEXITSTATUS(status) != 0)
    throw std::runtime_error(translator->path + " refused the module (exit status " +
                             std::to_string(WEXITSTATUS(status)) + ")");
  return read_all(output.get());
}

}  // namespace clique::daemon::compiler
