// The settings of cliqued. kSettings in settings.cpp lists each of them once: its option on the command line,
// its key in the configuration file, its default, its help and how it is read all come from there.
// docs/configuration.md describes them to users.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "daemon/confinement/wall.hpp"
#include "daemon/server/configuration/access.hpp"
#include "daemon/server/configuration/config_error.hpp"
#include "daemon/server/configuration/listen_address.hpp"
#include "daemon/server/configuration/nvidia_driver.hpp"
#include "daemon/worker/options.hpp"

namespace clique::daemon {

struct Settings {
  ListenAddress listen;
  std::vector<std::string> guest_memory;  ///< files that virtual machines of this host see
  /// Bytes of its file that a session of a virtual machine may have for segments; not set: a quarter
  std::optional<std::uint64_t> guest_segments;
  bool vsock = false;    ///< virtual machines of this host reach the same port through vsock
  std::string identity;  ///< file with the node's private key; empty: a key that lasts as long as the daemon
  AccessSettings access;
  /// Of the traffic with workers; connections to the daemon always are encrypted.
  protocol::Encryption encryption = protocol::Encryption::All;
  std::string metrics;    ///< HOST:PORT of the metrics for Prometheus; empty: none
  std::string devices;    ///< see select_devices()
  std::string name;       ///< the node's name; never empty
  std::string advertise;  ///< host by which other nodes reach this one; empty: the client's name for it
  std::chrono::seconds drain_timeout{0};
  std::size_t sessions = 0;         ///< at a time; 0: no limit
  std::size_t client_sessions = 0;  ///< the same of each client
  NvidiaDriver nvidia = NvidiaDriver::Cuda;
  confinement::Mode confinement = confinement::Mode::On;
  LogOptions log;
  SessionOptions session;
};

/// One setting, as it is written.
struct Setting {
  /// How the value is written in the configuration file. On the command line, all but Switch are `--NAME
  /// VALUE`.
  enum class Type : std::uint8_t {
    Text,
    List,    ///< a text with commas, or a list of texts and whole numbers
    Number,  ///< a whole number
    Switch   ///< true or false; `--NAME` on the command line
  };
  std::string_view name;  ///< the key in the file, and the option without its dashes
  Type type;
  std::string_view placeholder;  ///< for the value in the help
  std::string_view fallback;     ///< the default value, written as on the command line
  std::string_view help;
  /// Reads a value as it is written on the command line. Throws std::invalid_argument.
  void (*read)(const std::string& text, Settings& settings);
};

std::span<const Setting> all_settings();

/// The name of this host.
std::string host_name();

/// A value that a setting was given.
struct GivenValue {
  std::string text;   ///< as on the command line
  std::string where;  ///< for error messages: the option, or file, line and key
};
/// By the settings' names.
using GivenValues = std::map<std::string, GivenValue, std::less<>>;

/// The values in the TOML file at `path`. Throws ConfigError.
GivenValues read_settings_file(const std::string& path);

/// Reads the values that were given, and the defaults of all other settings. Throws ConfigError.
Settings make_settings(const GivenValues& given);

}  // namespace clique::daemon
