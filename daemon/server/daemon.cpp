#include "daemon/server/daemon.hpp"

#include <sys/signalfd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "daemon/common/caches.hpp"
#include "daemon/common/environment.hpp"
#include "daemon/common/log.hpp"
#include "daemon/server/child_process.hpp"
#include "daemon/server/command_line.hpp"
#include "daemon/server/device_filter.hpp"
#include "daemon/server/server.hpp"
#include "daemon/server/settings.hpp"
#include "daemon/server/systemd.hpp"
#include "protocol/fd.hpp"
#include "protocol/spin.hpp"

namespace clique::daemon {

namespace {

/// How long cliqued may take to end after draining.
constexpr std::chrono::seconds kStopTime{10};

/// Has SIGINT and SIGTERM read from the returned descriptor from now on.
Fd block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return Fd(::signalfd(-1, &signals, SFD_CLOEXEC));
}

/// The settings from the command line and the file; the command line overrides the file.
Settings read_settings(CommandLine&& line) {
  const bool named = !line.settings_file.empty();
  if (named || std::filesystem::exists(kDefaultSettingsFile))
    line.values.merge(read_settings_file(named ? line.settings_file : kDefaultSettingsFile));
  return make_settings(line.values);
}

void check_access(const Settings& settings) {
  if (settings.listen.loopback || settings.insecure) return;
  throw ConfigError(
      "listen: everybody who reaches " + settings.listen.endpoint() +
      " could run programs on this node, since connections are neither encrypted nor authenticated yet; in a "
      "network that you trust add --insecure (insecure = true in the configuration file), otherwise listen "
      "on "
      "127.0.0.1 and let clients come through an SSH tunnel");
}

/// Workers, which inherit the variable, ignore a value that is wrong.
void check_spin_time() {
  try {
    protocol::parse_spin_time(environment("CLIQUE_SPIN_US").value_or("").c_str());
  } catch (const std::runtime_error& error) {
    throw ConfigError(error.what());
  }
}

void listen_on(std::optional<Server>& server, const Settings& settings,
               std::vector<SelectedPlatform> platforms) {
  try {
    server.emplace(settings, std::move(platforms));
  } catch (const zmq::error_t& error) {
    throw ConfigError("listen: cannot listen on " + settings.listen.endpoint() + ": " + error.what() +
                      "; stop the cliqued that uses this address, or write an address of this host");
  }
}

}  // namespace

int run_daemon(int argc, char** argv) {
  CommandLine line = read_command_line(argc, argv);
  if (line.exit_status) return *line.exit_status;
  const Settings settings = read_settings(std::move(line));
  init_log("cliqued", settings.log_level);
  check_access(settings);
  check_spin_time();
  const Fd signals = block_signals();
  separate_driver_cache(settings.name + '-' + std::to_string(settings.listen.port));
  const auto platforms = probe_platforms(settings.nvidia);
  auto selected = select_devices(settings.devices, platforms);
  spdlog::info("devices of this node:\n{}", device_table(platforms));

  std::optional<Server> server;
  listen_on(server, settings, std::move(selected));
  spdlog::info("node {} listens on {}", settings.name, server->endpoint());
  if (settings.listen.loopback) {
    spdlog::info(
        "only programs on this host can use this node; to change that, use --listen HOST:PORT --insecure");
  } else {
    spdlog::warn("--insecure: everybody who reaches this address can run programs on this node");
  }
  notify_systemd("READY=1");
  const int signal = server->run(signals.get());
  // Has systemd wait as long as draining and stopping may take.
  notify_systemd(fmt::format("STOPPING=1\nEXTEND_TIMEOUT_USEC={}",
                             std::chrono::microseconds(settings.drain_timeout + kStopTime).count()));
  if (signal == SIGTERM) server->drain(signals.get(), settings.drain_timeout);
  server->stop();
  spdlog::info("stopped by {}", signal == SIGTERM ? "SIGTERM" : "SIGINT");
  return EXIT_SUCCESS;
}

}  // namespace clique::daemon
