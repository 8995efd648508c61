#include "daemon/compiler/client/compiler_process.hpp"

#include <CL/cl.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "daemon/common/environment.hpp"
#include "daemon/common/measurements.hpp"
#include "daemon/common/spawn.hpp"
#include "daemon/compiler/contract/build_options.hpp"
#include "daemon/compiler/contract/libdevice.hpp"
#include "daemon/compiler/contract/message_io.hpp"
#include "daemon/compiler/contract/spirv.hpp"
#include "daemon/compiler/nvrtc/library.hpp"
#include "protocol/fd.hpp"
#include "protocol/limits.hpp"

namespace clique::daemon::compiler {

namespace {

void check(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return std::nullopt;
  std::string text(static_cast<std::size_t>(std::max<std::streamoff>(file.tellg(), 0)), '\0');
  file.seekg(0);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file) return std::nullopt;
  return text;
}

/// What the cache keeps: a result is valid while the files that #include read are unchanged.
struct Entry {
  Result result;
  std::vector<std::uint64_t> file_hashes;
  CLIQUE_FIELDS(Entry, result, file_hashes)
};

/// 0 if the file cannot be read.
std::uint64_t hash_of_file(const std::string& path) {
  const auto text = read_file(path);
  return text ? XXH3_64bits(text->data(), text->size()) : 0;
}

std::vector<std::uint64_t> hashes_of(const std::vector<std::string>& files) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(files.size());
  for (const std::string& file : files) hashes.push_back(hash_of_file(file));
  return hashes;
}

Result failed(const Request& request, const std::string& why) {
  Result result;
  result.status = failure_status(request.kind);
  result.log = "error: " + why + "\n";
  return result;
}

}  // namespace

/// One run of clique-compiler. The process ends when its connection is closed.
class CompilerProcess::Process {
 public:
  explicit Process(const std::string& program) {
    int ends[2];
    check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : errno,
          "cannot create a socket pair for clique-compiler");
    socket_ = Fd(ends[0]);
    const Fd theirs(::fcntl(ends[1], F_DUPFD_CLOEXEC, kChildFd + 1));
    ::close(ends[1]);
    check(theirs ? 0 : errno, "cannot duplicate the socket for clique-compiler");
    start(program, theirs.get());
  }

  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { stop(); }

  int socket() const { return socket_.get(); }

  /// False once the process has closed its connection, which it does only by ending.
  bool is_alive() const {
    pollfd closed{socket_.get(), POLLIN, 0};
    return ::poll(&closed, 1, 0) == 0;
  }

  /// Ends the process.
  /// @returns how it ended, for logs
  std::string stop() {
    if (pid_ < 0) return {};
    int status = 0;
    // A process that ends by itself closes its connection just before its exit status, which the log should
    // name, is available.
    pid_t ended = 0;
    for (int attempt = 0; attempt < 50 && ended == 0; ++attempt) {
      ended = ::waitpid(pid_, &status, WNOHANG);
      if (ended == 0 && is_alive()) break;
      if (ended == 0) ::usleep(1000);
    }
    if (ended == 0) {
      // Where the worker must not send signals, the process ends with its connection.
      ::shutdown(socket_.get(), SHUT_RDWR);
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, &status, 0);
    }
    pid_ = -1;
    if (WIFSIGNALED(status)) return std::string("killed by signal ") + ::strsignal(WTERMSIG(status));
    return "exit status " + std::to_string(WEXITSTATUS(status));
  }

 private:
  void start(const std::string& program, int end) {
    NewProcess compiler;
    compiler.program = program;
    compiler.arguments = {program, "--serve", "--control-fd", std::to_string(kChildFd)};
    compiler.environment = environment_without({});
    compiler.connection = end;
    // The worker's standard output collects what kernels print; the compiler must not write there.
    compiler.null_io = true;
    pid_ = spawn(std::move(compiler), program.c_str());
  }

  Fd socket_;
  pid_t pid_ = -1;
};

CompilerProcess::CompilerProcess(std::string program, Cache cache)
    : program_(std::move(program)), cache_(std::move(cache)) {}

CompilerProcess::~CompilerProcess() = default;

void CompilerProcess::warm() {
  identity();
  try {
    running();
  } catch (const std::system_error&) {
    // The first request will fail in the same way and report it.
  }
}

CompilerProcess::Process& CompilerProcess::running() {
  if (process_ != nullptr && !process_->is_alive()) process_.reset();
  if (process_ == nullptr) process_ = std::make_unique<Process>(program_);
  return *process_;
}

const CacheKey& CompilerProcess::identity() {
  if (!compiler_) {
    CacheKeyBuilder parts;
    const auto library = std::filesystem::path(program_).parent_path() / "device-library.pack";
    for (const std::string& path : {program_, library.string(), find_libdevice()})
      parts.add(std::to_string(hash_of_file(path)));  // the node's own files: nobody makes collisions
    compiler_ = parts.key();
  }
  return *compiler_;
}

CacheKey CompilerProcess::key_of(const Request& request) {
  CacheKeyBuilder parts;
  const auto record = encode(request);
  parts.add(identity().text()).add(std::string_view(record.data(), record.size()));
  if (is_cuda_source(request.options) && has_nvrtc()) parts.add(open_nvrtc().identity);
  if (!request.il.empty())
    if (const auto translator = find_spirv_translator()) parts.add(translator->identity);
  return parts.key();
}

Result CompilerProcess::run(const Request& request, std::chrono::seconds limit) {
  if (program_.empty())
    return failed(
        request,
        "this node has no clique-compiler: install it beside cliqued, or set CLIQUE_COMPILER to its path");
  if (request.source.size() > protocol::Limits::kString)
    return failed(request, "the source is too large: it has " + std::to_string(request.source.size()) +
                               " bytes; the limit is " + std::to_string(protocol::Limits::kString) +
                               " bytes (64 MiB)");
  const CacheKey key = key_of(request);
  if (const auto kept = cache_.get(key)) {
    try {
      auto entry = decode<Entry>(*kept);
      if (entry.file_hashes == hashes_of(entry.result.files)) {
        Measurements::of_process().note_cache(true);
        return std::move(entry.result);
      }
    } catch (const protocol::DecodeError&) {
      // Written by another version of Clique; replaced below.
    }
  }
  Measurements::of_process().note_cache(false);
  Result result = compile(request, limit);
  if (result.status == CL_SUCCESS) {
    const auto record = encode(Entry{result, hashes_of(result.files)});
    cache_.put(key, {reinterpret_cast<const std::uint8_t*>(record.data()), record.size()});
  }
  return result;
}

Result CompilerProcess::compile(const Request& request, std::chrono::seconds limit) {
  try {
    const auto record = encode(request);
    const Deadline deadline = std::chrono::steady_clock::now() + limit;
    bool is_new = process_ == nullptr;
    for (;;) {
      const Process& process = running();
      try {
        send_record(process.socket(), {record.data(), record.size()}, deadline);
        return decode<Result>(receive_record(process.socket(), deadline));
      } catch (const ConnectionLost&) {
        const std::string how = process_->stop();
        process_.reset();
        // A process that was kept may have died before this request; only a new one is blamed on the request.
        if (std::exchange(is_new, true))
          return failed(request, "clique-compiler crashed while compiling this program (" + how + ")");
      }
    }
  } catch (const TimedOut&) {
    process_.reset();
    return failed(request, "compiling took more than " + std::to_string(limit.count()) +
                               " seconds, the node's limit, and was stopped");
  } catch (const protocol::DecodeError& error) {
    process_.reset();
    return failed(request, std::string("the answer of clique-compiler is invalid: ") + error.what());
  } catch (const std::system_error& error) {
    process_.reset();
    return failed(request, std::string("clique-compiler cannot be started: ") + error.what());
  }
}

}  // namespace clique::daemon::compiler
