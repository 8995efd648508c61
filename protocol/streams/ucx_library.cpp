#include "protocol/streams/ucx_library.hpp"

#include <dlfcn.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "protocol/printable.hpp"

namespace clique::protocol {

namespace {

constexpr const char* kUcxLibrary = "libucp.so.0";

/// Puts the handlers of signals back. UCX installs its own when it is loaded, but they belong to the
/// application.
class KeepSignalHandlers {
 public:
  KeepSignalHandlers() {
    for (int signal = 1; signal < kSignals; ++signal)
      known_[signal] = ::sigaction(signal, nullptr, &was_[signal]) == 0;
  }
  ~KeepSignalHandlers() {
    for (int signal = 1; signal < kSignals; ++signal)
      if (known_[signal]) ::sigaction(signal, &was_[signal], nullptr);
  }
  KeepSignalHandlers(const KeepSignalHandlers&) = delete;
  KeepSignalHandlers& operator=(const KeepSignalHandlers&) = delete;

 private:
  static constexpr int kSignals = 32;
  std::array<struct sigaction, kSignals> was_{};
  std::array<bool, kSignals> known_{};
};

/// Whether another line may be said. Strangers at a port of UCX's could cause any number of them.
bool may_say() {
  using Clock = std::chrono::steady_clock;
  constexpr int kPerSecond = 10;
  static std::mutex mutex;
  static Clock::time_point begin;
  static int said = 0;
  const std::lock_guard lock(mutex);
  if (const auto now = Clock::now(); now - begin > std::chrono::seconds(1)) {
    begin = now;
    said = 0;
  }
  return said++ < kPerSecond;
}

/// A function of UCX's type ucs_log_func_t, whose header few systems have. Says a line on standard error: the
/// standard output is the application's, and that of kernels. @returns UCX's word for "nobody else says it".
int say_for_ucx(const char* /*file*/, unsigned /*line*/, const char* /*function*/, int /*level*/,
                const void* /*component*/, const char* format, std::va_list arguments) {
  constexpr int kStop = 0;
  if (!may_say()) return kStop;
  std::array<char, 512> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  std::fprintf(stderr, "clique: UCX: %s\n", printable(text.data()).c_str());
  return kStop;
}

/// Has UCX say what it logs on standard error, unless the user has named another place. Otherwise it uses the
/// standard output.
void redirect_log(void* handle) {
  const char* const chosen = std::getenv("UCX_LOG_FILE");
  if (chosen != nullptr && *chosen != '\0') return;
  const auto push =
      reinterpret_cast<void (*)(decltype(&say_for_ucx))>(::dlsym(handle, "ucs_log_push_handler"));
  if (push != nullptr) push(&say_for_ucx);
}

}  // namespace

struct UcxLibrary::Opened {
  std::unique_ptr<const UcxLibrary> library;
  std::string missing;
};

UcxLibrary::UcxLibrary(void* handle) {
  const auto find = [handle]<typename F>(F& function, const char* name) {
    function = reinterpret_cast<F>(::dlsym(handle, name));
    if (function == nullptr) throw std::runtime_error(std::string(kUcxLibrary) + " has no function " + name);
  };
  find(config_read, "ucp_config_read");
  find(config_modify, "ucp_config_modify");
  find(config_release, "ucp_config_release");
  find(init_version, "ucp_init_version");
  find(cleanup, "ucp_cleanup");
  find(worker_create, "ucp_worker_create");
  find(worker_get_address, "ucp_worker_get_address");
  find(worker_release_address, "ucp_worker_release_address");
  find(worker_set_am_recv_handler, "ucp_worker_set_am_recv_handler");
  find(worker_get_efd, "ucp_worker_get_efd");
  find(worker_arm, "ucp_worker_arm");
  find(worker_signal, "ucp_worker_signal");
  find(worker_progress, "ucp_worker_progress");
  find(ep_create, "ucp_ep_create");
  find(ep_close_nbx, "ucp_ep_close_nbx");
  find(am_send_nbx, "ucp_am_send_nbx");
  find(am_recv_data_nbx, "ucp_am_recv_data_nbx");
  find(am_data_release, "ucp_am_data_release");
  find(request_free, "ucp_request_free");
  find(status_string, "ucs_status_string");
}

const UcxLibrary::Opened& UcxLibrary::opened() {
  // Never destroyed: threads may use it while the process exits.
  static const Opened& once = *[] {
    auto result = std::make_unique<Opened>();
    const KeepSignalHandlers keep;
    void* const handle = ::dlopen(kUcxLibrary, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* const why = ::dlerror();
      result->missing = std::string("UCX cannot be opened (") + (why != nullptr ? why : kUcxLibrary) +
                        "). Install it; Debian's package is libucx0";
      return result.release();
    }
    try {
      result->library.reset(new UcxLibrary(handle));
      redirect_log(handle);
    } catch (const std::runtime_error& error) {
      result->missing = std::string(error.what()) + ". Install UCX 1.13 or later";
    }
    return result.release();
  }();
  return once;
}

const UcxLibrary* UcxLibrary::get() {
  return opened().library.get();
}

const std::string& UcxLibrary::missing() {
  return opened().missing;
}

}  // namespace clique::protocol
