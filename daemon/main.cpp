#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "daemon/common/log.hpp"
#include "daemon/server/backends.hpp"
#include "daemon/server/config.hpp"
#include "daemon/server/device_filter.hpp"
#include "daemon/server/embedded.hpp"
#include "daemon/server/probe.hpp"
#include "daemon/server/server.hpp"
#include "daemon/worker/worker.hpp"
#include "protocol/spin.hpp"

namespace {

using clique::Fd;
using namespace clique::daemon;

/// From the end of draining to our end.
constexpr std::chrono::seconds kStopTime{10};

/// Tells systemd about our state, where it started us (Type=notify).
void notify_systemd(const std::string& state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, std::strlen(path));
  // A name in the abstract namespace is written with '@' and has a leading 0.
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + std::strlen(path));
  static_cast<void>(::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), length));
}

/// From here on SIGINT and SIGTERM are read from the descriptor.
Fd block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return Fd(::signalfd(-1, &signals, SFD_CLOEXEC));
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "node";
}

int run_daemon(const Config& config) {
  const ListenAddress listen = parse_listen(config.listen);
  if (!listen.loopback && !config.insecure)
    throw ConfigError("listening on " + config.listen +
                      " lets everybody who reaches this address run programs on this node: connections are "
                      "neither encrypted nor "
                      "authenticated yet. In a network that you trust, add --insecure (insecure = true in "
                      "the configuration file); "
                      "otherwise listen on 127.0.0.1 and let clients come through an SSH tunnel");
  Server::Options options;
  options.listen = listen;
  options.advertise = config.advertise;
  options.node = config.name.empty() ? host_name() : config.name;
  options.worker_ports = parse_ports(config.worker_ports);
  options.kernel_timeout = parse_kernel_timeout(config.kernel_timeout);
  options.resume_timeout = parse_resume_timeout(config.resume_timeout);
  options.sessions = parse_sessions(config.sessions);
  options.session_memory = parse_memory(config.session_memory);
  const auto drain_timeout = parse_drain_timeout(config.drain_timeout);
  const Fd signals = block_signals();
  separate_compiler_cache(options.node + '-' + std::to_string(listen.port));
  const auto platforms = probe_platforms(config.nvidia);
  options.platforms = select_devices(config.devices, platforms);
  spdlog::info("the node's devices:\n{}", device_table(platforms));

  try {
    clique::protocol::parse_spin_time(std::getenv("CLIQUE_SPIN_US"));
  } catch (const std::runtime_error& error) {
    throw ConfigError(error.what());
  }
  std::optional<Server> server;
  try {
    server.emplace(options);
  } catch (const zmq::error_t& error) {
    throw ConfigError("cannot listen on " + config.listen + ": " + error.what() +
                      "; is another cliqued running, or is the address another host's?");
  }
  spdlog::info("node {} listens on {}", options.node, server->listen().endpoint());
  if (listen.loopback) {
    spdlog::info(
        "only programs on this host can use it; to change that, start it with --listen HOST:PORT --insecure");
  } else {
    spdlog::warn("--insecure: whoever reaches this address can run programs on this node");
  }
  notify_systemd("READY=1");
  const int signal = server->run(signals.get());
  // systemd is to wait for as long as we do, and for what comes after that.
  notify_systemd(fmt::format("STOPPING=1\nEXTEND_TIMEOUT_USEC={}",
                             std::chrono::microseconds(drain_timeout + kStopTime).count()));
  if (signal == SIGTERM) server->drain(signals.get(), drain_timeout);
  server->stop();
  spdlog::info("ended by a signal");
  return EXIT_SUCCESS;
}

/// What this program starts of itself: `cliqued worker`, `embedded`, `probe`.
int run_internal(const std::string& command, int argc, char** argv) {
  WorkerOptions worker;
  std::string ports;
  std::string nvidia = "cuda";
  std::string log_level = "warning";
  std::int64_t kernel_timeout = 0;
  std::int64_t resume_timeout = 0;
  bool cuda = false;
  CLI::App app;
  app.add_option("--control-fd", worker.control_fd)->required();
  app.add_option("--log-level", log_level);
  app.add_option("--platform", worker.platform);
  app.add_flag("--cuda", cuda);
  app.add_option("--nvidia", nvidia);
  app.add_option("--devices", worker.devices)->delimiter(',');
  app.add_option("--bind", worker.bind);
  app.add_option("--worker-ports", ports);
  app.add_option("--kernel-timeout", kernel_timeout);
  app.add_option("--resume-timeout", resume_timeout);
  app.add_option("--session-memory", worker.session_memory);
  CLI11_PARSE(app, argc, argv);
  init_log(command, log_level);
  worker.ports = parse_ports(ports);
  worker.kernel_timeout = parse_kernel_timeout(kernel_timeout);
  worker.resume_timeout = parse_resume_timeout(resume_timeout);
  if (cuda) worker.kind = PlatformKind::Cuda;
  if (command != "embedded" && !cuda) find_room_for_compilers();
  if (command == "worker") run_worker(worker, make_backend);
  if (command == "probe") run_probe(worker.control_fd, parse_nvidia_driver(nvidia));
  return run_embedded(worker.control_fd);
}

int run(int argc, char** argv) {
  for (const char* command : {"worker", "embedded", "probe"})
    if (argc > 1 && std::string_view(argv[1]) == command) return run_internal(command, argc - 1, argv + 1);
  Config flags;
  std::string config_file;
  CLI::App app(
      "cliqued offers this node's OpenCL devices to Clique clients.\n"
      "It runs in the foreground until SIGINT, or until SIGTERM, after which running sessions may finish.",
      "cliqued");
  app.set_version_flag("--version", "cliqued " CLIQUE_VERSION);
  app.add_option("--listen", flags.listen, "HOST:PORT; HOST is a name, an IPv4 address or an [IPv6 address]")
      ->capture_default_str();
  app.add_option(
      "--devices", flags.devices,
      "Devices to offer: comma-separated indices, types (cpu, gpu, accelerator) or parts of names; all by "
      "default");
  app.add_option(
      "--config", config_file,
      std::string("TOML file with the same keys; ") + kDefaultConfigFile + " by default, if there is one");
  app.add_option("--log-level", flags.log_level, "trace, debug, info, warning, error, critical or off");
  app.add_option("--advertise", flags.advertise,
                 "Host by which other nodes reach this one, if not the clients' name for it");
  app.add_option("--name", flags.name, "The node's name; its host name by default");
  app.add_option("--worker-ports", flags.worker_ports,
                 "FIRST-LAST: ports for sessions, three each; any by default");
  app.add_option(
      "--nvidia", flags.nvidia,
      "How NVIDIA GPUs are used: 'cuda' (the default), or 'opencl' for NVIDIA's own OpenCL driver");
  app.add_option("--kernel-timeout", flags.kernel_timeout,
                 "SECONDS that a kernel may run before its session is ended; no limit by default");
  app.add_option("--drain-timeout", flags.drain_timeout,
                 "SECONDS that running sessions have to finish after SIGTERM")
      ->capture_default_str();
  app.add_option("--resume-timeout", flags.resume_timeout,
                 "SECONDS for which a client may be cut off; 0 ends sessions with their connections")
      ->capture_default_str();
  app.add_option("--sessions", flags.sessions, "Largest number of sessions at a time; any by default");
  app.add_option(
      "--session-memory", flags.session_memory,
      "BYTES that a session may allocate on each driver's devices, with K, M or G; any by default");
  app.add_flag("--insecure", flags.insecure,
               "Allow listening on an address that other hosts reach, without encryption");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }

  Config config;
  if (!config_file.empty() || std::filesystem::exists(kDefaultConfigFile))
    read_config(config_file.empty() ? kDefaultConfigFile : config_file, config);
  // The command line comes before the file.
  for (auto [option, field] : {std::pair{"--listen", &Config::listen},
                               {"--devices", &Config::devices},
                               {"--log-level", &Config::log_level},
                               {"--advertise", &Config::advertise},
                               {"--name", &Config::name},
                               {"--worker-ports", &Config::worker_ports},
                               {"--nvidia", &Config::nvidia},
                               {"--session-memory", &Config::session_memory}})
    if (app.count(option) > 0) config.*field = flags.*field;
  for (auto [option, field] : {std::pair{"--kernel-timeout", &Config::kernel_timeout},
                               {"--drain-timeout", &Config::drain_timeout},
                               {"--resume-timeout", &Config::resume_timeout},
                               {"--sessions", &Config::sessions}})
    if (app.count(option) > 0) config.*field = flags.*field;
  config.insecure = config.insecure || flags.insecure;
  check_log_level(config.log_level);
  try {
    parse_nvidia_driver(config.nvidia);
  } catch (const std::invalid_argument& error) {
    throw ConfigError(error.what());
  }
  init_log("cliqued", config.log_level);
  return run_daemon(config);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cliqued: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
