#include "daemon/server/configuration/settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <stdexcept>
#include <vector>

#include "daemon/server/configuration/guest_memory.hpp"
#include "protocol/printable.hpp"
#include "protocol/security/key_files.hpp"
#include "protocol/security/places.hpp"
#include "protocol/similar.hpp"
#include "protocol/toml.hpp"

namespace clique::daemon {

namespace {

using Type = Setting::Type;

using protocol::in_quotes;

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Seconds, up to a week.
std::chrono::seconds parse_time(const std::string& text) {
  constexpr std::uint64_t kWeek = 7ULL * 24 * 3600;
  const auto seconds = parse_number(text);
  if (!seconds || *seconds > kWeek)
    throw std::invalid_argument(in_quotes(text) +
                                " is not a time; write whole seconds, 0 to 604800 (a week)");
  return std::chrono::seconds(*seconds);
}

std::size_t parse_sessions(const std::string& text) {
  const auto number = parse_number(text);
  if (!number)
    throw std::invalid_argument(in_quotes(text) +
                                " is not a number of sessions; write a whole number, or 0 for no limit");
  return *number;
}

/// Throws std::invalid_argument if the text is not at least so many bytes, in the way of
/// protocol::parse_bytes().
/// @param allowed how the message goes on: what else may be written
std::uint64_t parse_amount(const std::string& text, std::uint64_t least, const std::string& allowed) {
  try {
    const std::uint64_t bytes = protocol::parse_bytes(text);
    if (bytes >= least) return bytes;
  } catch (const protocol::SecurityError&) {
    // Reported below, with what is allowed.
  }
  throw std::invalid_argument(in_quotes(text) + " is not a valid amount of memory; write " + allowed);
}

/// Empty text is 0: no limit.
std::uint64_t parse_session_memory(const std::string& text) {
  // OpenCL's minimum for CL_DEVICE_MAX_MEM_ALLOC_SIZE.
  constexpr std::uint64_t kLeast = 32U << 20U;
  if (text.empty()) return 0;
  return parse_amount(
      text, kLeast,
      "at least 32M: a number of bytes, or a number with K, M, G or T, such as 8G; or leave the "
      "setting out for no limit");
}

/// Empty text is the default.
std::optional<std::uint64_t> parse_guest_segments(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return parse_amount(text, 0,
                      "a number of bytes, or a number with K, M, G or T, such as 256M; 0 for no segments; or "
                      "leave the setting out for a quarter of each file");
}

std::string parse_log_level(const std::string& text) {
  for (const char* known : {"trace", "debug", "info", "warning", "warn", "error", "critical", "off"})
    if (text == known) return text;
  throw std::invalid_argument(
      in_quotes(text) + " is not a log level; write trace, debug, info, warning, error, critical or off");
}

LogFormat parse_log_format(const std::string& text) {
  if (text == "text") return LogFormat::Text;
  if (text == "json") return LogFormat::Json;
  throw std::invalid_argument(in_quotes(text) + " is not a format of the log; write text or json");
}

protocol::Encryption parse_encryption(const std::string& text, const ListenAddress& listen) {
  if (text.empty()) return listen.loopback ? protocol::Encryption::None : protocol::Encryption::All;
  if (const auto encryption = protocol::encryption_of(text)) return *encryption;
  throw std::invalid_argument(in_quotes(text) + " is not a kind of encryption; write all, commands or none");
}

protocol::Compression parse_compression(const std::string& text) {
  if (text == "auto") return protocol::Compression::Auto;
  if (text == "none") return protocol::Compression::None;
  throw std::invalid_argument(in_quotes(text) + " does not say when to compress; write auto or none");
}

/// The address of the metrics. Empty text stays empty.
std::string parse_metrics(const std::string& text) {
  if (text.empty()) return {};
  // Another program's default port would be taken for this one's.
  if (text.ends_with(']') || text.find(':') == std::string::npos)
    throw std::invalid_argument(in_quotes(text) + " has no port; write HOST:PORT, such as 127.0.0.1:9890");
  const std::string endpoint = parse_listen(text).endpoint();
  return endpoint.substr(endpoint.find("//") + 2);
}

const std::array kSettings{
    Setting{"listen", Type::Text, "HOST:PORT", "127.0.0.1:7890",
            "Address to listen on; HOST is a name, an IPv4 address, an [IPv6 address] or '*'; port 0 is any "
            "free one",
            [](const std::string& text, Settings& s) { s.listen = parse_listen(text); }},
    Setting{"vsock", Type::Switch, "", "false",
            "Also listen at the same port of vsock, by which virtual machines on this host reach it as "
            "vsock:2:PORT; the node needs a key",
            [](const std::string& text, Settings& s) { s.vsock = text == "true"; }},
    Setting{
        "guest-memory", Type::List, "FILES", "",
        "Files in /dev/shm, separated by commas, each of which QEMU shows to one virtual machine (ivshmem): "
        "its sessions move their data through it",
        [](const std::string& text, Settings& s) { s.guest_memory = parse_guest_memory(text); }},
    Setting{"guest-segments", Type::Text, "BYTES", "",
            "Memory of such a file that a session may have for segments, from which devices take large "
            "transfers directly: with K, M, G or T for powers of 1024, at most half of the file; 0 for none; "
            "a quarter by default",
            [](const std::string& text, Settings& s) { s.guest_segments = parse_guest_segments(text); }},
    Setting{"identity", Type::Text, "FILE", protocol::kNodeIdentity,
            "The node's private key, which 'clique keygen --node' makes; without it the node generates a new "
            "key at each start, and listens on the loopback address only",
            [](const std::string& text, Settings& s) { s.identity = text; }},
    Setting{"auth", Type::List, "LIST", "keys",
            "How clients prove their identity: keys, munge (every user of the site with a MUNGE credential; "
            "munge:SOCKET if munged uses another socket), or both, separated by a comma",
            [](const std::string& text, Settings& s) { parse_auth(text, s.access); }},
    Setting{"authorized-clients", Type::Text, "FILE", protocol::kAuthorizedClients,
            "The file with the keys of the clients that may use the node; read again whenever it changes",
            [](const std::string& text, Settings& s) { s.access.authorized_clients = text; }},
    Setting{"local-users", Type::List, "LIST", "",
            "Users whose programs on this host may use the node without a key, separated by commas, or '*' "
            "for all; the user that cliqued runs as always may",
            [](const std::string& text, Settings& s) { parse_local_users(text, s.access); }},
    Setting{"encryption", Type::Text, "WHAT", "",
            "'all' encrypts connections to workers, 'commands' all but large transfers, 'none' only "
            "authenticates them; by default all, but none on the loopback address",
            [](const std::string& text, Settings& s) { s.encryption = parse_encryption(text, s.listen); }},
    Setting{"compression", Type::Text, "WHEN", "auto",
            "'auto' compresses large transfers where the network is so slow that this is faster, 'none' "
            "never does",
            [](const std::string& text, Settings& s) { s.session.compression = parse_compression(text); }},
    Setting{"ucx", Type::Switch, "", "false",
            "Let clients whose transport is ucx send large transfers through UCX, for RDMA; trusts them, and "
            "everybody on that network, with the processes of sessions",
            [](const std::string& text, Settings& s) {
              s.session.ucx = text == "true" ? UcxUse::Offered : UcxUse::Refused;
            }},
    Setting{"insecure", Type::Switch, "", "false", "Admit everybody who can reach the port",
            [](const std::string& text, Settings& s) { s.access.insecure = text == "true"; }},
    Setting{"devices", Type::List, "LIST", "",
            "Devices to offer, separated by commas: indices, types (cpu, gpu, accelerator), parts of names, "
            "or all; by default all but CPUs, and these on a node that has nothing else",
            [](const std::string& text, Settings& s) { s.devices = text; }},
    Setting{"file-roots", Type::List, "LIST", "none",
            "Folders whose files programs may read and write through OpenCL: read:FOLDER and write:FOLDER, "
            "separated by commas, or none",
            [](const std::string& text, Settings& s) { s.access.files = FileRoots::parse(text); }},
    Setting{"cufile", Type::Text, "WHEN", "auto",
            "Whether NVIDIA GPUs read files through cuFile: 'auto' where GPUDirect Storage works, 'always' "
            "also where cuFile copies through the host's memory, or 'never'",
            [](const std::string& text, Settings& s) { s.session.cufile = parse_cufile_use(text); }},
    Setting{"name", Type::Text, "NAME", "", "The node's name; its host name by default",
            [](const std::string& text, Settings& s) { s.name = text.empty() ? host_name() : text; }},
    Setting{"advertise", Type::Text, "HOST", "",
            "Host by which other nodes reach this one; by default the name that the client uses",
            [](const std::string& text, Settings& s) { s.advertise = text; }},
    Setting{"worker-ports", Type::Text, "FIRST-LAST", "none",
            "Ports of sessions for clients whose transport is zeromq, three for each driver; or any, or none",
            [](const std::string& text, Settings& s) { s.session.ports = parse_ports(text); }},
    Setting{"kernel-timeout", Type::Number, "SECONDS", "0",
            "How long a kernel may run before its session is ended; 0 is no limit",
            [](const std::string& text, Settings& s) { s.session.kernel_timeout = parse_time(text); }},
    // The default is well below the 90 seconds that systemd gives services to stop.
    Setting{"drain-timeout", Type::Number, "SECONDS", "30",
            "How long running sessions may go on after SIGTERM; 0 ends them at once",
            [](const std::string& text, Settings& s) { s.drain_timeout = parse_time(text); }},
    Setting{"resume-timeout", Type::Number, "SECONDS", "30",
            "How long a client may be cut off; 0 ends a session with its connections",
            [](const std::string& text, Settings& s) { s.session.resume_timeout = parse_time(text); }},
    Setting{"sessions", Type::Number, "NUMBER", "0", "Most sessions at a time; 0 is no limit",
            [](const std::string& text, Settings& s) { s.sessions = parse_sessions(text); }},
    Setting{
        "client-sessions", Type::Number, "NUMBER", "0",
        "Most sessions of one client (a key, a user, or with --insecure an address) at a time; 0 is no limit",
        [](const std::string& text, Settings& s) { s.client_sessions = parse_sessions(text); }},
    Setting{
        "session-memory", Type::Text, "BYTES", "",
        "Memory that a session may allocate on the devices of one driver: at least 32M, with K, M, G or T "
        "for powers of 1024; no limit by default",
        [](const std::string& text, Settings& s) { s.session.memory = parse_session_memory(text); }},
    Setting{
        "share", Type::Number, "NUMBER", "1",
        "How much of a device each session is to have while several use it, relative to the shares of the "
        "others: 1 to 1000; for clients without a share of their own",
        [](const std::string& text, Settings& s) { s.access.share = parse_share(text); }},
    Setting{"user-shares", Type::List, "LIST", "",
            "The shares of users who are admitted without a key: USER=NUMBER, separated by commas",
            [](const std::string& text, Settings& s) { parse_user_shares(text, s.access); }},
    Setting{"nvidia", Type::Text, "DRIVER", "cuda",
            "How NVIDIA GPUs are used: 'cuda', or 'opencl' for NVIDIA's own OpenCL driver",
            [](const std::string& text, Settings& s) { s.nvidia = parse_nvidia_driver(text); }},
    Setting{"confinement", Type::Text, "MODE", "",
            "Walls around sessions: 'on' (default), 'required' to start only if the host has all, or 'off'",
            [](const std::string& text, Settings& s) {
              s.confinement =
                  text.empty() ? confinement::mode_of_environment() : confinement::parse_mode(text);
            }},
    Setting{"metrics", Type::Text, "HOST:PORT", "",
            "Address at which Prometheus gets metrics by HTTP, from /metrics; none by default",
            [](const std::string& text, Settings& s) { s.metrics = parse_metrics(text); }},
    Setting{"log-level", Type::Text, "LEVEL", "info", "trace, debug, info, warning, error, critical or off",
            [](const std::string& text, Settings& s) { s.log.level = parse_log_level(text); }},
    Setting{"log-format", Type::Text, "FORMAT", "text",
            "'text' for people, or 'json': each line is a JSON object",
            [](const std::string& text, Settings& s) { s.log.format = parse_log_format(text); }},
};

/// A list as it is written on the command line; nothing where an element is neither text nor a whole number.
std::optional<std::string> join(const toml::array& list) {
  std::string result;
  for (const toml::node& element : list) {
    if (!result.empty()) result += ',';
    if (const auto text = element.value_exact<std::string>()) {
      result += *text;
    } else if (const auto number = element.value_exact<std::int64_t>()) {
      result += std::to_string(*number);
    } else {
      return std::nullopt;
    }
  }
  return result;
}

/// A value of the file as it is written on the command line. Throws std::invalid_argument where its type is
/// another than the setting's.
std::string value_text(const Setting& setting, const toml::node& node) {
  const auto text = node.value_exact<std::string>();
  switch (setting.type) {
    case Type::List:
      if (text) return *text;
      if (const auto* list = node.as_array())
        if (auto joined = join(*list)) return *std::move(joined);
      throw std::invalid_argument(
          "the value has to be a text or a list of names and indices, such as [\"gpu\", 3]");
    case Type::Number:
      if (const auto number = node.value_exact<std::int64_t>()) return std::to_string(*number);
      throw std::invalid_argument("the value has to be a whole number, without quotation marks");
    case Type::Switch:
      if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
      throw std::invalid_argument("the value has to be true or false, without quotation marks");
    case Type::Text:
      break;
  }
  if (!text) throw std::invalid_argument("the value has to be a text; put it between quotation marks");
  return *text;
}

std::string place(const std::string& path, const toml::source_region& source) {
  return path + ", line " + std::to_string(source.begin.line) + ": ";
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "node";
}

std::span<const Setting> all_settings() {
  return kSettings;
}

GivenValues read_settings_file(const std::string& path) {
  toml::table table;
  try {
    table = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    if (error.source().begin.line == 0)
      throw ConfigError(path + " cannot be read: " + std::string(error.description()));
    throw ConfigError(place(path, error.source()) + std::string(error.description()) +
                      "; see https://toml.io for the format");
  } catch (const protocol::MalformedToml& error) {
    throw ConfigError(path + ": " + error.what() + "; see https://toml.io for the format");
  }
  GivenValues given;
  for (const auto& [key, node] : table) {
    // Keys are documented with hyphens, and also accepted with underscores.
    std::string name(key.str());
    std::replace(name.begin(), name.end(), '_', '-');
    const auto* setting = std::find_if(kSettings.begin(), kSettings.end(),
                                       [&name](const Setting& one) { return one.name == name; });
    if (setting == kSettings.end()) {
      std::vector<std::string_view> names;
      std::string known;
      for (const Setting& one : kSettings) {
        names.push_back(one.name);
        known += (known.empty() ? "" : ", ") + std::string(one.name);
      }
      const std::string_view meant = protocol::most_similar(name, names);
      throw ConfigError(
          place(path, key.source()) + "unknown key " + in_quotes(key.str()) +
          (meant.empty() ? "; the keys are " + known : "; did you mean " + std::string(meant) + "?"));
    }
    if (given.contains(name))
      throw ConfigError(place(path, key.source()) + name +
                        " is given twice, with a hyphen and with an underscore; remove one of them");
    const std::string where = place(path, node.source()) + name;
    try {
      given[name] = {value_text(*setting, node), where};
    } catch (const std::invalid_argument& error) {
      throw ConfigError(where + ": " + error.what());
    }
  }
  return given;
}

Settings make_settings(const GivenValues& given) {
  Settings settings;
  for (const Setting& setting : kSettings) {
    const auto value = given.find(setting.name);
    if (value == given.end()) {
      setting.read(std::string(setting.fallback), settings);
      continue;
    }
    try {
      setting.read(value->second.text, settings);
    } catch (const std::invalid_argument& error) {
      throw ConfigError(value->second.where + ": " + error.what());
    }
  }
  return settings;
}

}  // namespace clique::daemon
