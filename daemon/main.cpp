// cliqued: one program for the daemon and for the processes that it starts of itself.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <span>
#include <stdexcept>
#include <string_view>

#include "daemon/common/control.hpp"
#include "daemon/common/process.hpp"
#include "daemon/server/daemon.hpp"
#include "daemon/server/embedded.hpp"
#include "daemon/server/processes/backends.hpp"
#include "daemon/server/processes/probe.hpp"
#include "daemon/server/processes/trial.hpp"
#include "daemon/worker/options.hpp"
#include "daemon/worker/worker.hpp"

// jemalloc's settings: memory of blocks below 1 GiB is kept for some seconds. Those for received and staged
// data come and go all the time, and keeping their memory saves its page faults.
extern "C" {
extern const char* const malloc_conf;
const char* const malloc_conf = "oversize_threshold:1073741824";
}

namespace {

using namespace clique::daemon;

/// Removes `--control-fd N` from the beginning of the arguments. cliqued passes it to every process that it
/// starts.
ControlChannel take_control_channel(std::span<char*>& arguments) {
  int descriptor = -1;
  if (arguments.size() >= 2 && std::string_view(arguments[0]) == "--control-fd") {
    const std::string_view number = arguments[1];
    std::from_chars(number.data(), number.data() + number.size(), descriptor);
  }
  if (descriptor < 0)
    throw std::invalid_argument("the arguments lack --control-fd N; cliqued starts this process itself");
  arguments = arguments.subspan(2);
  return ControlChannel(clique::Fd(descriptor));
}

int run(int argc, char** argv) {
  const std::string_view process = argc > 1 ? argv[1] : "";
  if (process != "worker" && process != "embedded" && process != "probe" && process != "trial")
    return run_daemon(argc, argv);
  std::span<char*> arguments(argv + 2, static_cast<std::size_t>(argc - 2));
  const ControlChannel control = take_control_channel(arguments);
  const std::span<char* const> all(argv, static_cast<std::size_t>(argc));
  name_process(std::string(process), all);
  if (process == "worker") run_worker(control, parse_worker_arguments(arguments), make_backend, send_gpus);
  if (process == "probe") run_probe(control, parse_probe_arguments(arguments));
  if (process == "trial") run_trial(control, parse_trial_arguments(arguments));
  return run_embedded(control);
}

}  // namespace

int main(int argc, char** argv) {
  set_up_process();
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cliqued: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
