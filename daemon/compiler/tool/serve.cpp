#include "daemon/compiler/tool/serve.hpp"

#include <fcntl.h>
#include <llvm/Support/ErrorHandling.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "daemon/compiler/contract/language_features.hpp"
#include "daemon/compiler/contract/message_io.hpp"
#include "daemon/compiler/contract/spirv.hpp"
#include "daemon/compiler/tool/compile.hpp"
#include "daemon/compiler/tool/spirv/translate_spirv.hpp"
#include "daemon/confinement/confine.hpp"

namespace clique::daemon::compiler {

namespace {

/// Limit on address space, in bytes: more than any program needs, and little enough not to disturb the node.
constexpr rlim_t kMemory = rlim_t{16} << 30U;
/// Limit on processor time for one request, in case the worker does not stop it.
constexpr rlim_t kSeconds = 3600;

void limit(__rlimit_resource resource, rlim_t value) {
  rlimit limits{};
  ::getrlimit(resource, &limits);
  limits.rlim_cur = std::min(value, limits.rlim_max);
  ::setrlimit(resource, &limits);
}

void limit_processor_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  limit(RLIMIT_CPU, static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + kSeconds);
}

/// Programs may be written to take over the compiler. It is to find nothing to read there, nobody to talk to
/// and nothing to start but the translator.
void put_up_walls() {
  confinement::FileNeeds needs{confinement::Role::Compiler, {}, {}};
  if (const auto translator = find_spirv_translator()) {
    needs.programs.emplace_back(translator->path);
    make_files_for_translator();
  }
  // The daemon has said which walls this host lacks.
  confinement::confine(needs, confinement::Start::WithoutNamespaces, confinement::mode_of_environment());
}

/// Waits until the worker closes the connection, then ends the process: nobody needs the result any more.
void end_with(int socket) {
  pollfd closed{socket, POLLRDHUP, 0};
  while (::poll(&closed, 1, -1) <= 0) {
  }
  std::_Exit(0);
}

void send_result(int socket, const Result& result) {
  const auto record = encode(result);
  send_record(socket, {record.data(), record.size()});
}

/// The connection and the kind of the request under way, for answer_fatal_error().
struct Asker {
  int socket = -1;
  Request::Kind kind = Request::Kind::Build;
};

/// LLVM calls this when it gives up, for example because no instruction fits. Sends the reason to the worker,
/// for which a crash would only be a signal.
void answer_fatal_error(void* asker, const char* reason, bool /*with_crash_report*/) {
  const auto& [socket, kind] = *static_cast<const Asker*>(asker);
  try {
    send_result(socket, {failure_status(kind),
                         std::string("error: LLVM cannot compile this program: ") + reason + "\n",
                         {},
                         {}});
  } catch (const std::exception&) {
    // The worker sees the connection end instead.
  }
  std::_Exit(1);
}

/// Compiles a small program, so that everything that any program needs is loaded and relocated.
void practise(const DeviceLibrary& library) {
  Request request;
  request.architecture = "sm_90";
  request.extensions = language_extensions();
  request.source =
      "__kernel void practise(__global float* x, __local float* y) {\n"
      "  int i = get_global_id(0);\n"
      "  y[get_local_id(0)] = sin(x[i]) / exp(x[i + 1]);\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n"
      "  x[i] = y[get_local_id(0) ^ 1];\n"
      "}\n";
  static_cast<void>(compile(request, library));
}

}  // namespace

void serve(int socket, const std::string& library_path) {
  // Programs that this process starts must not inherit the connection.
  ::fcntl(socket, F_SETFD, FD_CLOEXEC);
  put_up_walls();
  limit(RLIMIT_AS, kMemory);
  std::thread(end_with, socket).detach();
  static Asker asker;
  asker.socket = socket;
  llvm::install_fatal_error_handler(answer_fatal_error, &asker);

  const DeviceLibrary library(library_path);
  pollfd request_waits{socket, POLLIN, 0};
  if (::poll(&request_waits, 1, 0) == 0) practise(library);
  try {
    for (;;) {
      const auto request = decode<Request>(receive_record(socket));
      limit_processor_time();
      asker.kind = request.kind;
      send_result(socket, compile(request, library));
    }
  } catch (const ConnectionLost&) {
    // The worker has closed the connection.
  }
}

}  // namespace clique::daemon::compiler
