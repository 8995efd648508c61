#pragma once

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "daemon/worker/worker.hpp"

namespace clique::daemon {

/// What was configured cannot be used. what() says what, where, and the remedy.
class ConfigError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The daemon's settings. The configuration file has the same keys as the command line.
struct Config {
  std::string listen = "127.0.0.1:7890";
  std::string devices;  ///< empty: all
  std::string log_level = "info";
  std::string advertise;  ///< host that other nodes reach this one by; empty: the one that the client used
  std::string name;       ///< the node's name; empty: its host name
  std::string worker_ports;
  std::string nvidia = "cuda";  ///< see parse_nvidia_driver
  bool insecure = false;
  std::int64_t kernel_timeout = 0;   ///< seconds; 0: none
  std::int64_t drain_timeout = 30;   ///< seconds; well below the 90 that systemd gives services to stop
  std::int64_t resume_timeout = 30;  ///< seconds that a client may be away; 0: none
  std::int64_t sessions = 0;         ///< at a time, at most; 0: any number
  std::string session_memory;        ///< see parse_memory
};

inline constexpr const char* kDefaultConfigFile = "/etc/clique/cliqued.toml";

/// Sets what the TOML file at `path` holds. Throws ConfigError naming file and line.
void read_config(const std::string& path, Config& config);

/// Where to listen.
struct ListenAddress {
  std::string address;  ///< numeric; IPv6 without brackets
  std::uint16_t port = 0;
  bool loopback = false;
  /// As a ZeroMQ endpoint.
  std::string endpoint() const;
};

/// HOST, HOST:PORT or :PORT, where HOST is a name, an IPv4 address or an [IPv6 address]. Without a port,
/// kDefaultPort. Names are looked up. Throws ConfigError.
ListenAddress parse_listen(std::string_view text);

/// "FIRST-LAST", or nothing: any. Throws ConfigError.
PortRange parse_ports(std::string_view text);

/// Throws ConfigError unless it is a time that a kernel can have: 0 for no limit, up to a week.
std::chrono::seconds parse_kernel_timeout(std::int64_t seconds);

/// Throws ConfigError unless it is a time that sessions can have to finish: up to a week.
std::chrono::seconds parse_drain_timeout(std::int64_t seconds);

/// Throws ConfigError unless it is a time for which a client can be away: up to a week.
std::chrono::seconds parse_resume_timeout(std::int64_t seconds);

/// Throws ConfigError unless it is a number of sessions: 0 for no limit.
std::size_t parse_sessions(std::int64_t number);

/// Bytes: a number that K, M, G or T (powers of 1024) may follow, 32M or more; or nothing: 0, for no limit.
/// Throws ConfigError.
std::uint64_t parse_memory(std::string_view text);

/// Throws ConfigError unless it is a level's name.
void check_log_level(const std::string& level);

}  // namespace clique::daemon
