#include "daemon/server/daemon.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>

#include "daemon/common/caches.hpp"
#include "daemon/common/environment.hpp"
#include "daemon/common/log.hpp"
#include "daemon/server/configuration/command_line.hpp"
#include "daemon/server/configuration/device_filter.hpp"
#include "daemon/server/configuration/settings.hpp"
#include "daemon/server/devices/host_health.hpp"
#include "daemon/server/processes/child_process.hpp"
#include "daemon/server/processes/trial.hpp"
#include "daemon/server/server.hpp"
#include "daemon/server/systemd.hpp"
#include "protocol/fd.hpp"
#include "protocol/security/identity.hpp"
#include "protocol/security/places.hpp"
#include "protocol/spin.hpp"

namespace clique::daemon {

namespace {

/// How long cliqued may take to end after draining.
constexpr std::chrono::seconds kStopTime{10};

/// Blocks SIGINT, SIGTERM, SIGHUP and SIGUSR1, and returns a signalfd from which they are read.
Fd block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGHUP);
  sigaddset(&signals, SIGUSR1);
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

void log_devices(const std::vector<ListedPlatform>& platforms) {
  spdlog::info("devices of this node:");
  std::istringstream table(device_table(platforms));
  for (std::string line; std::getline(table, line);) spdlog::info("{}", line);
}

/// Whether the node keeps its key in a file. Otherwise it makes a new one at each start.
bool has_key_file(const Settings& settings) {
  const bool by_default = settings.identity == protocol::kNodeIdentity;
  return !settings.identity.empty() && (!by_default || std::filesystem::exists(settings.identity));
}

/// The node's key. Throws ConfigError.
protocol::Identity identity_of(const Settings& settings) {
  if (has_key_file(settings)) {
    try {
      return protocol::Identity::read(settings.identity);
    } catch (const protocol::SecurityError& error) {
      throw ConfigError(std::string("identity: ") + error.what());
    }
  }
  if (settings.vsock && !settings.access.insecure)
    throw ConfigError(
        "vsock: virtual machines can reach the node, but it has no key by which they could recognise it; run "
        "'clique keygen --node', or name its private key with 'identity'");
  if (!settings.listen.loopback && !settings.access.insecure)
    throw ConfigError("listen: " + settings.listen.endpoint() +
                      " can be reached from other hosts, but the node has no key by which clients could "
                      "recognise it; run 'clique keygen --node', or name its private key with 'identity', or "
                      "listen on 127.0.0.1");
  return protocol::Identity::generate();
}

/// Workers, which inherit the variable, ignore a value that is wrong.
void check_spin_time() {
  try {
    protocol::parse_spin_time(environment("CLIQUE_SPIN_US").value_or("").c_str());
  } catch (const std::runtime_error& error) {
    throw ConfigError(error.what());
  }
}

/// Why sessions do without the wall 'network', for people; empty: they do not.
std::string why_no_network_wall(const Settings& settings) {
  const std::string setting = needs_sockets(settings.session);
  return setting.empty() ? setting : setting + ", for which sessions make connections themselves";
}

/// `cliqued --check`, whose lines `clique doctor` reads (cli/doctor/doctor_walls.cpp). @returns the exit
/// status
int list_walls(const Settings& settings) {
  const auto missing = try_walls();
  const std::string lifted = why_no_network_wall(settings);
  for (const confinement::Wall wall : confinement::kWalls) {
    const auto found =
        std::find_if(missing.begin(), missing.end(), [wall](const auto& one) { return one.wall == wall; });
    if (wall == confinement::Wall::Network && !lifted.empty()) {
      std::printf("%-13s %-8s %s\n", std::string(name_of(wall)).c_str(), "lifted", lifted.c_str());
      continue;
    }
    const bool present = found == missing.end();
    std::printf("%-13s %-8s %s\n", std::string(name_of(wall)).c_str(), present ? "present" : "MISSING",
                present ? std::string(description_of(wall)).c_str() : found->reason.c_str());
    // Below the reason.
    if (!present) std::printf("%-22s %s\n", "", std::string(remedy_of(wall)).c_str());
  }
  return missing.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
}

/// Logs which walls sessions do without, and notes them. Throws ConfigError if the settings require all, and
/// the host lacks one.
void check_walls(const Settings& settings, protocol::NodeHealth& health) {
  const confinement::Mode mode = settings.confinement;
  // The processes of sessions read this variable.
  set_environment("CLIQUE_CONFINEMENT", std::string(name_of(mode)));
  if (mode == confinement::Mode::Off) {
    spdlog::warn("confinement is off: kernels that run on this host's CPUs can do everything that {} can do",
                 ::geteuid() == 0 ? "root" : "this user");
    return;
  }
  const auto missing = try_walls();
  note_walls(health, mode, missing);
  if (mode == confinement::Mode::Required && !missing.empty())
    throw ConfigError("confinement is 'required', but this host lacks walls: " + to_text(missing) +
                      "; fix this, or set confinement to 'on' to run without them");
  if (const std::string lifted = why_no_network_wall(settings); !lifted.empty())
    spdlog::info("the wall 'network' is lifted: {}", lifted);
  for (const auto& [wall, reason] : missing)
    spdlog::warn("this host lacks the wall '{}', so sessions run without it: {}; {}", name_of(wall), reason,
                 remedy_of(wall));
}

/// Removes abandoned folders of sessions.
/// @returns the folder for folders of sessions; empty if the user has no place for it
std::string prepare_session_folders() {
  std::string folders = environment("POCL_CACHE_DIR").value_or("");
  if (!folders.empty()) SessionFolder::remove_abandoned(folders);
  return folders;
}

void listen_on(std::optional<Server>& server, const Settings& settings, const protocol::Identity& identity,
               NodeDevices devices, protocol::NodeHealth health) {
  try {
    server.emplace(settings, identity, std::move(devices), std::move(health));
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::address_family_not_supported)
      throw ConfigError(
          "vsock: the kernel of this host has no vsock; load its module vhost_vsock, or remove the setting");
    throw ConfigError("listen: cannot listen on " + settings.listen.endpoint() + ": " + error.what() +
                      "; stop the program that uses this address, or name another address of this host");
  }
}

/// Logs who can use the node, and whether others can read the traffic.
void log_access(const Settings& settings, const protocol::Identity& identity) {
  spdlog::info("the node's key is {}, {}", identity.public_key().text(), identity.public_key().fingerprint());
  if (settings.access.insecure)
    spdlog::warn("--insecure: everybody who can reach this address can run programs on this node");
  if (settings.encryption != protocol::Encryption::All && !settings.listen.loopback)
    spdlog::warn("encryption is {}: others in the network can read and change the {} of sessions",
                 to_text(settings.encryption),
                 settings.encryption == protocol::Encryption::None ? "data" : "large transfers");
  if (settings.listen.loopback && !settings.vsock)
    spdlog::info("only programs on this host can use this node; to change that, use --listen HOST:PORT");
}

/// Handles SIGHUP: reads the list of authorized clients again. Running sessions are not affected.
void reload(Server& server) {
  spdlog::info("SIGHUP: reading the keys of clients again; running sessions are not affected");
  server.reload();
}

/// Serves until SIGINT or SIGTERM arrives. @returns the signal's number
int serve(Server& server, int signals) {
  for (;;) {
    const int signal = server.run(signals);
    if (signal == SIGHUP)
      reload(server);
    else if (signal == SIGUSR1)
      server.log_state();
    else
      return signal;
  }
}

}  // namespace

int run_daemon(int argc, char** argv) {
  CommandLine line = read_command_line(argc, argv);
  if (line.exit_status) return *line.exit_status;
  if (line.check) {
    return list_walls(read_settings(std::move(line)));
  }
  Settings settings = read_settings(std::move(line));
  settings.log.node = settings.name;
  init_log("cliqued", settings.log);
  const protocol::Identity identity = identity_of(settings);
  // With the name, because nodes may share a key.
  settings.session.node =
      (has_key_file(settings) ? identity.public_key().text() + " " : std::string()) + settings.name;
  check_spin_time();
  const Fd signals = block_signals();
  separate_driver_cache(settings.name + '-' + std::to_string(settings.listen.port));
  protocol::NodeHealth health;
  check_walls(settings, health);
  note_compiler(health);
  settings.session.folders = prepare_session_folders();
  make_nvidia_devices(settings.nvidia);
  NodeDevices devices;
  devices.all = probe_platforms(settings.nvidia, settings.session.folders);
  devices.served = select_devices(settings.devices, devices.all);
  log_devices(devices.all);

  std::optional<Server> server;
  listen_on(server, settings, identity, std::move(devices), std::move(health));
  log_access(settings, identity);
  spdlog::info("node {} listens on {}{}", settings.name, server->endpoint(),
               settings.vsock ? " and on the same port of vsock" : "");
  notify_systemd("READY=1");
  const int signal = serve(*server, signals.get());
  // Tell systemd how long draining and stopping may take.
  notify_systemd(fmt::format("STOPPING=1\nEXTEND_TIMEOUT_USEC={}",
                             std::chrono::microseconds(settings.drain_timeout + kStopTime).count()));
  if (signal == SIGTERM) server->drain(signals.get(), settings.drain_timeout);
  server->stop();
  const std::string cause = server->drain_cause();
  server.reset();
  SessionFolder::wait_until_removed(kStopTime / 2);
  spdlog::info("stopped {}", !cause.empty() ? cause : signal == SIGTERM ? "by SIGTERM" : "by SIGINT");
  return EXIT_SUCCESS;
}

}  // namespace clique::daemon
